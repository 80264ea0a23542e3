// The steps of a caller of several keys.
#include "testing/simulator/callers/multi_key_caller.hpp"

#include <algorithm>
#include <utility>

#include "testing/simulator/callers/call_choices.hpp"

namespace latchkey::sim {
void MultiKeyCaller::rest(Clock::duration length) {
  context_.world.schedule_in(length, Due::multi_step, context_.client, index_, ++step_epoch_);
}

bool MultiKeyCaller::waits() const noexcept {
  return batch_open_ || std::ranges::any_of(keys_, &Key::under_way);
}

void MultiKeyCaller::step(std::uint64_t epoch) {
  if (epoch != step_epoch_ || waits()) return;
  if (!plan_) {
    if (!context_.world.faults_stopped) make_plan();
  } else if (step_started_) {
    finish_step();
  }
  if (!plan_ || !context_.world.passed()) return;
  if (plan_->step() == Plan::Step::done) return finish_plan();
  start_step();
  if (!waits()) rest(reaction_time);
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

void MultiKeyCaller::make_plan() {
  Random& random = context_.world.random;
  choose_keys();
  const bool fair =
      std::ranges::any_of(keys_, [](const Key& key) { return key.type == LockType::FAIR; });
  lease_ = random.percent(30) ? Lease(watchdog)
                              : Lease(random.pick({milliseconds(1'000), milliseconds(5'000)}));
  const Clock::time_point now = context_.clock.now();
  const Wait wait = pick_wait(random);
  until_ = wait.is_forever() ? Clock::never() : later(now, wait.length());
  Call call;
  call.set_grace(wait.length(), context_.world.scenario.settings.command_timeout);
  grace_ = call.grace;
  plan_.emplace(Plan::Terms{.members = keys_.size(),
                            .one_step = !fair && random.percent(60),
                            .forever = wait.is_forever(),
                            .asked = now,
                            .until = until_});
  step_started_ = false;
  context_.note("acquires several", {}, keys_.size(), wait.length().count());
}

void MultiKeyCaller::start_step() {
  step_started_ = true;
  set_deadline();
  switch (plan_->step()) {
    case Plan::Step::attempt: return start_batch();
    case Plan::Step::await: return start_call(keys_[plan_->member()], Operation::acquire);
    case Plan::Step::fill: return extend_all();
    case Plan::Step::give_back: return release_all();
    case Plan::Step::done: return;
  }
}

void MultiKeyCaller::set_deadline() {
  const bool attempts = plan_->step() == Plan::Step::attempt;
  const Clock::time_point end = later(attempts ? plan_->until() : until_, grace_);
  if (end == Clock::never()) return;
  const Clock::duration in = context_.clock.truth_at(end) - context_.world.now;
  context_.world.schedule_in(std::max<Clock::duration>(in, 2 * reaction_time), Due::multi_deadline,
                             context_.client, index_, ++deadline_epoch_);
}

void MultiKeyCaller::finish_step() {
  step_started_ = false;
  const Clock::time_point now = context_.clock.now();
  switch (plan_->step()) {
    case Plan::Step::attempt: return finish_batch_step();
    case Plan::Step::await: {
      const bool lost = std::ranges::any_of(
          keys_, [&](const Key& key) { return key.hold != nullptr && key.hold->is_lost(now); });
      return plan_->awaited(keys_[plan_->member()].call->answer, lost, now);
    }
    case Plan::Step::fill: return finish_fill();
    case Plan::Step::give_back: return plan_->given_back();
    case Plan::Step::done: return;
  }
}

// The plan learns of the first key that was not granted.
void MultiKeyCaller::finish_batch_step() {
  Answer answer = Answer::granted;
  std::size_t member = 0;
  for (std::size_t index = keys_.size(); index-- > 0;) {
    const Key& key = keys_[index];
    if (key.hold != nullptr || !key.call || key.call->answer == Answer::pending) continue;
    answer = key.call->answer;
    member = index;
  }
  plan_->attempted(answer, member, context_.clock.now());
}

void MultiKeyCaller::finish_fill() {
  const Clock::time_point now = context_.clock.now();
  Answer answer = Answer::granted;
  std::size_t member = 0;
  for (std::size_t index = keys_.size(); index-- > 0;) {
    const Key& key = keys_[index];
    const Answer extended = key.call ? key.call->answer : Answer::granted;
    const Answer its = key.hold->is_lost(now) ? Answer::lost : extended;
    if (its == Answer::granted) continue;
    answer = its;
    member = index;
  }
  plan_->filled(answer, member, now);
}

// Either all keys are held, and released after a while, or none is held.
void MultiKeyCaller::finish_plan() {
  World& world = context_.world;
  const bool granted = plan_->answer() == Answer::granted;
  context_.note("acquired several", {}, index_, granted ? 1 : 0);
  if (until_ != Clock::never()) context_.holds.waited(context_.client, until_, grace_);
  const bool held = std::ranges::any_of(keys_, [](const Key& key) { return key.hold != nullptr; });
  if (granted != held) return world.fail("several keys were granted in part");
  if (!granted) {
    plan_.reset();
    return rest(world.random.between({}, milliseconds(50)));
  }
  ++context_.grants;
  for (Key& key : keys_) {
    if (key.hold->is_lost(context_.clock.now())) {
      return world.fail("several keys were granted of which one was lost");
    }
    unpin(key);
  }
  until_ = Clock::never();
  // A plan that begins with a failure has one thing left to do: to release what is held.
  plan_.emplace(Plan::Terms{.members = keys_.size()});
  plan_->awaited(Answer::closed, false, context_.clock.now());
  rest(world.random.between({}, milliseconds(200)));
}

// A batch and releases are left to themselves. Other calls end on their own.
void MultiKeyCaller::deadline(std::uint64_t epoch) {
  if (epoch != deadline_epoch_ || !step_started_) return;
  if (batch_open_) {
    abandon_batch();
  } else if (plan_->step() == Plan::Step::give_back) {
    for (Key& key : keys_) {
      if (!std::exchange(key.under_way, false)) continue;
      ++key.timer_epoch;
      context_.handle(
          key.key, [&](Coordinator& its, EventContext& context) { its.leave(*key.call, context); });
    }
  } else {
    return;
  }
  rest(reaction_time);
}

bool MultiKeyCaller::acts_on(std::uint32_t key) const noexcept {
  return std::ranges::any_of(keys_, [&](const Key& each) {
    return each.key == key && (each.claim != nullptr || each.under_way);
  });
}

// The client answers for what it holds; its claims are never answered.
void MultiKeyCaller::stop() {
  ++step_epoch_;
  for (Key& key : keys_) {
    ++key.timer_epoch;
    key.under_way = false;
    RemoteHold* const claim = std::exchange(key.claim, nullptr);
    if (claim != nullptr) context_.process->abandon(*claim);
    key.hold = nullptr;
  }
  batch_open_ = step_started_ = false;
  plan_.reset();
  for (const auto& batch : std::exchange(abandoned_, {})) {
    for (RemoteHold* const claim : batch->claims) context_.process->abandon(*claim);
  }
}

}  // namespace latchkey::sim
