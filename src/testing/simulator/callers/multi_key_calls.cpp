// The calls of a caller of several keys: one for each key.
#include <algorithm>
#include <utility>

#include "testing/simulator/callers/multi_key_caller.hpp"

namespace latchkey::sim {
namespace {

/// Distinguishes callers of several keys from the client's other callers.
constexpr std::uint32_t first_caller_number = 1'000;

}  // namespace

void MultiKeyCaller::start_call(Key& key, Operation operation) {
  const milliseconds timeout = context_.world.scenario.settings.command_timeout;
  Call& call = key.call.emplace();
  call.owner = owner_;
  call.type = key.type;
  call.lease = lease_;
  call.asked = context_.clock.now();
  call.bundled = batch_open_;
  if (operation == Operation::acquire) {
    call.until = call.bundled ? call.asked : plan_->until();
    call.forever = call.until == Clock::never();
    call.grace = grace_;
  } else if (operation == Operation::extend) {
    call.until = std::min(call.asked + timeout, later(until_, grace_));
  }
  key.under_way = true;
  key.acquiring = operation == Operation::acquire;
  context_.handle(
      key.key,
      [&](Coordinator& its, EventContext& context) {
        const milliseconds lease = lease_.length(milliseconds(0));
        if (operation == Operation::acquire) return its.acquire(call, context);
        if (operation == Operation::extend) return its.extend(*key.hold, lease, call, context);
        its.release(*std::exchange(key.hold, nullptr), key.type, lease_.is_watchdog(),
                    Clock::time_point::min(), &call, context);
      },
      &call);
}

void MultiKeyCaller::extend_all() {
  for (Key& key : keys_) {
    key.call.reset();
    if (!lease_.is_watchdog()) start_call(key, Operation::extend);
  }
}

void MultiKeyCaller::release_all() {
  for (Key& key : keys_) {
    key.call.reset();
    if (key.hold == nullptr) continue;
    unpin(key);
    std::erase_if(context_.history.keys[key.key].holds, [&](const GrantedHold& hold) {
      return hold.client == context_.client && hold.owner == owner_.number();
    });
    start_call(key, Operation::release);
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
  if (key.acquiring && call.answer == Answer::granted) record_grant(key, !batch_open_);
  if (batch_open_) return;  // the outcome of the batch ends the step
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

void MultiKeyCaller::record_grant(Key& key, bool pinned) {
  key.acquiring = false;
  key.hold = key.call->hold;
  key.pinned = pinned;
  if (pinned) Coordinator::pin(*key.hold);
  GrantedHold hold;
  hold.client = context_.client;
  hold.caller = first_caller_number + index_;
  hold.owner = owner_.number();
  hold.hold = key.hold;
  hold.number = key.hold->id.number;
  hold.type = key.type;
  hold.by_watchdog = lease_.is_watchdog();
  hold.pinned = pinned;
  context_.holds.granted(key.key, hold);
}

void MultiKeyCaller::unpin(Key& key) {
  if (!std::exchange(key.pinned, false)) return;
  Coordinator::unpin(*key.hold);
  for (GrantedHold& hold : context_.history.keys[key.key].holds) {
    if (hold.client == context_.client && hold.owner == owner_.number()) hold.pinned = false;
  }
}

}  // namespace latchkey::sim
