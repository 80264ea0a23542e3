// The steps of a caller of several keys.
// SPDX-License-Identifier: BSL-1.0
#include "testing/simulator/callers/multi_key_caller.hpp"

#include <algorithm>
#include <utility>

#include "testing/simulator/callers/caller_context.hpp"

namespace latchkey::inline v1::sim {

void MultiKeyCaller::rest(Clock::duration length) {
  context_.world.schedule_in(length, Due::multi_step, context_.client, index_, ++step_epoch_);
}

bool MultiKeyCaller::waits() const noexcept {
  return batch_open_ || std::ranges::any_of(keys_, &Key::under_way);
}

void MultiKeyCaller::step(std::uint64_t epoch) {
  if (epoch != step_epoch_ || waits()) return;
  switch (stage_) {
    case Stage::idle:
      if (context_.world.faults_stopped) return;
      begin();
      break;
    case Stage::before_step: break;
    case Stage::in_step:
      steps_->finish();
      stage_ = Stage::before_step;
      break;
    case Stage::holding: return release();
    case Stage::releasing:
      stage_ = Stage::idle;
      return rest(context_.world.random.between({}, milliseconds(50)));
  }
  if (!context_.world.passed()) return;
  if (steps_->plan().step() == Plan::Step::done) return finish_acquire();
  start_step();
}

void MultiKeyCaller::choose_keys() {
  World& world = context_.world;
  keys_.clear();
  while (keys_.size() < 2) {
    keys_.clear();
    for (std::uint32_t key = 0; key < world.keys.size(); ++key) {
      if (world.random.percent(70)) keys_.emplace_back().key = key;
    }
  }
  for (Key& key : keys_) key.type = pick_type(world, key.key);
}

void MultiKeyCaller::begin() {
  Random& random = context_.world.random;
  choose_keys();
  const bool fair =
      std::ranges::any_of(keys_, [](const Key& key) { return key.type == LockType::FAIR; });
  lease_ = random.percent(30) ? Lease(watchdog)
                              : Lease(random.pick({milliseconds(1'000), milliseconds(5'000)}));
  lease_ = pick_options(context_.world, lease_);
  const Wait wait = pick_wait(random);
  until_ = wait.is_forever() ? Clock::never() : later(now(), wait.length());
  grace_ = Call::grace_of(wait.length(), context_.world.scenario.settings.command_timeout);
  for (Key& key : keys_) key.fenced = pick_token(context_.world, key.type);
  steps_.emplace(*this, keys_.size(), lease_);
  steps_->begin({.members = keys_.size(),
                 .one_step = !fair && random.percent(60),
                 .forever = wait.is_forever(),
                 .asked = now(),
                 .until = until_});
  context_.note("acquires several", {}, keys_.size(), wait.length().count());
  cancelled_ = false;
  ++acquire_epoch_;
  if (!random.percent(20)) return;
  context_.world.schedule_in(random.between({}, milliseconds(600)), Due::multi_cancel,
                             context_.client, index_, acquire_epoch_);
}

void MultiKeyCaller::cancel(std::uint64_t epoch) {
  if (epoch != acquire_epoch_ || stage_ == Stage::idle) return;
  context_.note("cancels several", {}, index_);
  cancelled_ = true;
  if (stage_ == Stage::in_step) cancel_wait();
}

// Only one kind of step can be cancelled: the wait for one key.
void MultiKeyCaller::cancel_wait() {
  if (!cancelled_ || steps_->plan().step() != Plan::Step::await) return;
  Key& key = keys_[steps_->plan().member()];
  if (!key.under_way) return;
  context_.handle(key.key,
                  [&](Coordinator& its, EventContext& context) { its.cancel(*key.call, context); });
}

void MultiKeyCaller::start_step() {
  stage_ = Stage::in_step;
  const bool attempts = steps_->plan().step() == Plan::Step::attempt;
  set_deadline(later(attempts ? steps_->plan().until() : until_, grace_));
  steps_->start();
  cancel_wait();
  if (!waits()) rest(reaction_time);
}

void MultiKeyCaller::set_deadline(Clock::time_point end) {
  if (end == Clock::never()) return;
  const Clock::duration in = context_.clock.truth_at(end) - context_.world.now;
  context_.world.schedule_in(std::max<Clock::duration>(in, 2 * reaction_time), Due::multi_deadline,
                             context_.client, index_, ++deadline_epoch_);
}

// Either all keys are held, and released after a while, or none is held.
void MultiKeyCaller::finish_acquire() {
  World& world = context_.world;
  ++acquire_epoch_;
  const bool granted = steps_->plan().answer() == Answer::granted;
  context_.note("acquired several", {}, index_, granted ? 1 : 0);
  if (until_ != Clock::never()) context_.holds.waited(context_.client, until_, grace_);
  if (granted ? !steps_->missing().empty() : steps_->any_held()) {
    return world.fail("several keys were granted in part");
  }
  if (!granted) {
    stage_ = Stage::idle;
    return rest(world.random.between({}, milliseconds(50)));
  }
  ++context_.grants;
  for (std::size_t member = 0; member < keys_.size(); ++member) {
    if (steps_->hold(member)->is_lost(now())) {
      return world.fail("several keys were granted of which one was lost");
    }
  }
  steps_->unpin_all();
  stage_ = Stage::holding;
  rest(world.random.between({}, milliseconds(200)));
}

void MultiKeyCaller::release() {
  stage_ = Stage::releasing;
  for (Key& key : keys_) key.call.reset();
  steps_->give_back();
  if (!waits()) rest(reaction_time);
}

// A batch and releases are left to themselves. Other calls end on their own.
void MultiKeyCaller::deadline(std::uint64_t epoch) {
  if (epoch != deadline_epoch_ || stage_ != Stage::in_step) return;
  if (batch_open_) {
    detail::BatchSteps(*this, batch_->claims).give_up();
    abandoned_.push_back(std::move(batch_));
    batch_open_ = false;
  } else if (steps_->plan().step() == Plan::Step::give_back) {
    leave_releases();
  } else {
    return;
  }
  rest(reaction_time);
}

bool MultiKeyCaller::acts_on(std::uint32_t key) const noexcept {
  const auto claims = [&](std::size_t item) { return keys_[batch_->positions[item]].key == key; };
  if (batch_open_ && std::ranges::any_of(batch_->claims.items, claims)) return true;
  return std::ranges::any_of(keys_,
                             [&](const Key& each) { return each.key == key && each.under_way; });
}

// The client answers for what it holds; its claims are never answered.
void MultiKeyCaller::stop() {
  ++step_epoch_;
  ++acquire_epoch_;
  for (Key& key : keys_) {
    ++key.timer_epoch;
    key.under_way = false;
  }
  if (std::exchange(batch_open_, false)) abandoned_.push_back(std::move(batch_));
  steps_.reset();
  stage_ = Stage::idle;
  for (const auto& batch : std::exchange(abandoned_, {})) {
    for (RemoteHold* const claim : batch->claims.claims) context_.process->abandon(*claim);
  }
}

}  // namespace latchkey::inline v1::sim
