// The calls of a caller of several keys, one for each key, and its requests for several keys.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <utility>

#include "testing/simulator/callers/multi_key_caller.hpp"

namespace latchkey::inline v1::sim {
namespace {

/// Distinguishes callers of several keys from the client's other callers.
constexpr std::uint32_t first_caller_number = 1'000;

}  // namespace

// --- calls ---

const Call* MultiKeyCaller::call_of(std::size_t member) const noexcept {
  const auto& call = keys_[member].call;
  return call ? &*call : nullptr;
}

Call& MultiKeyCaller::make_call(Key& key) {
  Call& call = key.call.emplace();
  call.owner = owner_;
  call.type = key.type;
  call.lease = lease_;
  call.fenced = key.fenced;
  call.asked = now();
  return call;
}

template <class Bring>
void MultiKeyCaller::bring(Key& key, Bring&& event) {
  key.under_way = true;
  context_.handle(key.key, std::forward<Bring>(event), &*key.call);
}

void MultiKeyCaller::start_acquire(std::size_t member, Clock::time_point until) {
  Key& key = keys_[member];
  Call& call = make_call(key);
  call.until = until;
  call.forever = until == Clock::never();
  call.grace = grace_;
  key.acquiring = true;
  bring(key, [&](Coordinator& its, EventContext& context) { its.acquire(call, context); });
}

void MultiKeyCaller::start_extend(std::size_t member, RemoteHold& hold, milliseconds lease) {
  Key& key = keys_[member];
  Call& call = make_call(key);
  const milliseconds timeout = context_.world.scenario.settings.command_timeout;
  call.until = std::min(later(call.asked, timeout), later(until_, grace_));
  call.up_to_limit = true;
  bring(key,
        [&](Coordinator& its, EventContext& context) { its.extend(hold, lease, call, context); });
}

void MultiKeyCaller::start_release(std::size_t member, RemoteHold& hold) {
  Key& key = keys_[member];
  std::erase_if(context_.history.keys[key.key].holds, [&](const GrantedHold& each) {
    if (!owns(each)) return false;
    context_.holds.dropped(key.key, each);
    return true;
  });
  Call& call = make_call(key);
  bring(key, [&](Coordinator& its, EventContext& context) {
    its.release(hold, key.type, lease_.is_watchdog(), Clock::time_point::min(), &call, context);
  });
}

// The releases go on without their callers.
void MultiKeyCaller::leave_releases() {
  for (Key& key : keys_) {
    if (!std::exchange(key.under_way, false)) continue;
    ++key.timer_epoch;
    context_.handle(
        key.key, [&](Coordinator& its, EventContext& context) { its.leave(*key.call, context); });
  }
}

bool MultiKeyCaller::woken(const Call& call) {
  for (std::uint32_t position = 0; position < keys_.size(); ++position) {
    const Key& key = keys_[position];
    if (!key.call || &*key.call != &call) continue;
    call_woken(position);
    return true;
  }
  return false;
}

void MultiKeyCaller::call_woken(std::uint32_t position) {
  Key& key = keys_[position];
  const Call& call = *key.call;
  if (key.acquiring && call.answer == Answer::granted) record_grant(key);
  if (call.bundled) return;  // the outcome of the batch ends the step
  ++key.timer_epoch;
  if (call.answer == Answer::pending) {
    if (call.wake_at == Clock::never()) return;
    const std::uint32_t timer_index = index_ * most_keys + position;
    return context_.schedule_at(call.wake_at, Due::multi_timer, timer_index, key.timer_epoch);
  }
  key.under_way = false;
  if (std::ranges::none_of(keys_, &Key::under_way)) rest(reaction_time);
}

void MultiKeyCaller::timer(std::uint32_t timer_index, std::uint64_t epoch) {
  const std::uint32_t position = timer_index % most_keys;
  if (position >= keys_.size()) return;
  Key& key = keys_[position];
  if (epoch != key.timer_epoch || !key.under_way) return;
  Process& process = *context_.process;
  process.tick(process.at(context_.world.keys[key.key]), &*key.call);
}

// --- what the judges learn ---

void MultiKeyCaller::record_grant(Key& key) {
  key.acquiring = false;
  const RemoteHold& granted = *key.call->hold;
  GrantedHold hold;
  hold.client = context_.client;
  hold.caller = first_caller_number + index_;
  hold.owner = owner_.number();
  hold.hold = key.call->hold;
  hold.number = granted.id.number;
  hold.type = key.type;
  hold.by_watchdog = lease_.is_watchdog();
  hold.delay = lease_.lock_delay();
  hold.fenced = key.call->wants_token();
  hold.pinned = !key.call->bundled;  // it has to be renewed while others are awaited
  context_.holds.granted(key.key, hold);
}

void MultiKeyCaller::unpin(std::size_t member, RemoteHold& hold) {
  Coordinator::unpin(hold);
  for (GrantedHold& each : context_.history.keys[keys_[member].key].holds) {
    if (owns(each)) each.pinned = false;
  }
}

// --- requests for several keys ---

void MultiKeyCaller::start_batch(const std::vector<std::size_t>& missing,
                                 Clock::time_point /*until*/) {
  batch_ = std::make_unique<Batch>(missing);
  for (const std::size_t position : missing) keys_[position].call.reset();
  batch_open_ = true;
  batch_open_ = detail::BatchSteps(*this, batch_->claims).start(missing.size(), batch_->request);
}

const Call& MultiKeyCaller::start_claim(std::size_t item) {
  Key& key = keys_[batch_->positions[item]];
  Call& call = make_call(key);
  call.until = call.asked;
  call.grace = grace_;
  call.bundled = true;
  key.acquiring = true;
  bring(key, [&](Coordinator& its, EventContext& context) { its.acquire(call, context); });
  key.under_way = false;  // from now on the batch is
  return call;
}

void MultiKeyCaller::complete(std::size_t item, RemoteHold& claim, Outcome& outcome) {
  Key& key = keys_[batch_->positions[item]];
  context_.handle(
      key.key,
      [&](Coordinator& its, EventContext& context) {
        its.completed(claim.acquire.request, outcome, context);
      },
      &*key.call);
  if (key.call->answer == Answer::pending) context_.world.fail("one attempt was not the last");
}

void MultiKeyCaller::give_up(std::size_t item, RemoteHold& /*claim*/) {
  Key& key = keys_[batch_->positions[item]];
  context_.handle(
      key.key, [&](Coordinator& its, EventContext& context) { its.end_wait(*key.call, context); },
      &*key.call);
}

bool MultiKeyCaller::answers_at_once(Request& request, Outcome& outcome) {
  context_.requests.submitted(context_.client, request, false);
  context_.note("sends", "acquire_all", request.members.front().id.number);
  if (!context_.world.scenario.immediate) return false;
  outcome = context_.network.apply_at_once(context_.client, request);
  context_.requests.applied(context_.client, request, outcome, true);
  context_.requests.answered(context_.client, request, outcome);
  return true;
}

void MultiKeyCaller::submit(Request& request) { context_.network.submit(context_.client, request); }

bool MultiKeyCaller::answered(const Request& request, const Outcome& outcome) {
  if (!batch_open_ || &batch_->request != &request) return answered_late(request, outcome);
  detail::BatchSteps(*this, batch_->claims).complete(outcome);
  batch_open_ = false;
  rest(reaction_time);
  return true;
}

// The coordinators release what the batch was granted after it was abandoned.
bool MultiKeyCaller::answered_late(const Request& request, const Outcome& outcome) {
  const auto place = std::ranges::find_if(
      abandoned_, [&](const auto& each) { return &each->request == &request; });
  if (place == abandoned_.end()) return false;
  const std::unique_ptr<Batch> batch = std::move(*place);
  abandoned_.erase(place);
  detail::complete_late(batch->claims, outcome, [&](RemoteHold& claim, Outcome& its) {
    context_.process->handle(*claim.home, [&](Coordinator& one, EventContext& context) {
      one.completed(claim.acquire.request, its, context);
    });
  });
  return true;
}

}  // namespace latchkey::inline v1::sim
