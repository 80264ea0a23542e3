// The queues of the lock table: the rules of process_queue.lua and fair_queue.lua in lua/parts.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "memory/lock_table.hpp"

namespace latchkey::inline v1::detail {
namespace {

using std::chrono::milliseconds;
using Mode = LockRecord::Mode;

// How often a waiter tries again: the first two in the queue every second, because the holder may
// change and its lease may be short; the others every 2 s, because the lease of a grant counts from
// the last attempt.
constexpr milliseconds pace_in_front{1'000}, pace_behind{2'000};

/// The place of a process ends this long after its last attempt. Waiters try again every second.
constexpr std::chrono::seconds place_life{3};

LockRecord::Subscription* subscription_to_grants(LockRecord& record, const HoldId& of) noexcept {
  const auto found =
      std::find_if(record.subscriptions.begin(), record.subscriptions.end(),
                   [&](const auto& each) { return each.grants && each.id.space == of.space; });
  return found == record.subscriptions.end() ? nullptr : &*found;
}

void ask_to_try_again(LockRecord& record, const HoldId& process) noexcept {
  const LockRecord::Subscription* const its = subscription_to_grants(record, process);
  if (its == nullptr) return;
  Notification notification;
  notification.kind = Notification::Kind::released;
  notification.key = record.key;
  notification.id = its->id;
  its->subscriber->notify(notification);
}

}  // namespace

// The time would not do: one request may have an earlier time than the one before it.
std::uint64_t LockTable::next_place(Clock::time_point now) noexcept {
  const auto time = std::chrono::floor<std::chrono::microseconds>(now.time_since_epoch()).count();
  last_place_ = std::max(last_place_ + 1, time > 0 ? static_cast<std::uint64_t>(time) : 0);
  return last_place_;
}

// --- the process queue ---

std::uint64_t LockTable::take_place(LockRecord& record, const Request& request,
                                    Clock::time_point now) {
  const auto own = std::find_if(record.processes.begin(), record.processes.end(),
                                [&](const auto& each) { return each.id == request.id; });
  std::uint64_t place = 0;
  if (own != record.processes.end()) {
    place = own->place;
    own->ends = later(now, place_life);
  } else {
    place = next_place(now);
    if (record.processes.empty()) begin_turn(record, now);
    const std::uint32_t tokens = request.wants_token() ? request.tokens : 0;
    record.processes.push_back(
        {request.id, request.type, request.lease, tokens, place, later(now, place_life)});
  }
  record.processes_end = later(now, place_life);
  record.first_end = std::min(record.first_end, record.processes_end);
  return place;
}

void LockTable::drop_ended_places(LockRecord& record, const HoldId& until, Clock::time_point now) {
  std::vector<LockRecord::Process>& all = record.processes;
  while (!all.empty() && all.front().id != until && all.front().ends <= now) {
    ask_to_try_again(record, all.front().id);
    all.erase(all.begin());
  }
}

bool LockTable::grant_first(LockRecord& record, const HoldId& until, Clock::time_point now) {
  while (true) {
    drop_ended_places(record, until, now);
    if (record.processes.empty() || record.processes.front().id == until) return false;
    const LockRecord::Process first = record.processes.front();
    record.processes.erase(record.processes.begin());
    const LockRecord::Subscription* const its = subscription_to_grants(record, first.id);
    if (its == nullptr) continue;
    std::uint64_t token = 0;
    if (first.tokens > 0) token = last_token_ = next_token(first.tokens, now);
    const auto lease = std::min<std::chrono::milliseconds>(first.lease, grant_lease);
    record.hold(first.id, later(now, lease), token, LockRecord::mode_of(first.type));
    if (first.type == LockType::WRITE) record.kept_for_writer = Clock::time_point::min();
    begin_turn(record, now);
    Notification notification;
    notification.kind = Notification::Kind::granted;
    notification.key = record.key;
    notification.id = first.id;
    notification.place = first.place;
    notification.token = token;
    its->subscriber->notify(notification);
    return true;
  }
}

// A late copy of the releaser's acquire may have taken a place, which is dropped. `notified`: how
// many subscribers to the key were notified. If there are any, the first process is only told to
// try again.
void LockTable::pass_on(LockRecord& record, const HoldId& releaser, std::uint32_t notified,
                        Clock::time_point now) {
  std::erase_if(record.processes, [&](const auto& each) { return each.id == releaser; });
  if (notified == 0 && !record.processes.empty() && now < record.turn_ends) {
    return call_first_process(record);
  }
  if (notified == 0 || record.processes.empty()) {
    if (!grant_first(record, HoldId{}, now) && record.idle()) records_.erase(record);
    return;
  }
  drop_ended_places(record, HoldId{}, now);
  if (!record.processes.empty()) ask_to_try_again(record, record.processes.front().id);
}

// It is told by the id of its claim, so that it tries at once.
void LockTable::call_first_process(LockRecord& record) {
  const LockRecord::Process& first = record.processes.front();
  if (std::exchange(record.called_place, first.place) == first.place) return;
  const LockRecord::Subscription* const its = subscription_to_grants(record, first.id);
  if (its == nullptr) return;
  Notification notification;
  notification.kind = Notification::Kind::released;
  notification.key = record.key;
  notification.id = first.id;
  its->subscriber->notify(notification);
}

void LockTable::end_turn(LockRecord& record, Clock::time_point now) {
  if (record.mode != Mode::free || now < record.turn_ends) return;
  static_cast<void>(grant_first(record, HoldId{}, now));
}

// --- the queue of FAIR ---

// Busy: a FAIR waiter enters the queue or keeps its place.
void LockTable::queue_up(LockRecord& record, const Request& request, Clock::time_point now,
                         Outcome& outcome) {
  if (record.mode == Mode::free) record.call_first(now);
  auto place = std::find_if(record.queue.begin(), record.queue.end(),
                            [&](const auto& each) { return each.id == request.id; });
  Clock::time_point end = record.last_end();
  for (auto ahead = record.queue.begin(); ahead != place; ++ahead) end = std::max(end, ahead->ends);
  if (place != record.queue.end()) {
    place->ends = std::max(place->ends, later(now, request.queue_wait));
  } else if (request.queue_wait > milliseconds::zero()) {
    record.enqueue({request.id, later(now, request.queue_wait), false});
    place = record.queue.end() - 1;
  } else {
    return set_busy(outcome, record, end, now);
  }
  place->grantable = request.lease >= fair_grant_lease && !request.wants_token();
  const auto before = place - record.queue.begin();
  if (before < 2 && record.mode != Mode::free) end = record.last_end();
  if (request.queue_wait > milliseconds::zero()) outcome.place = next_place(now);
  const Clock::time_point again = later(now, before < 2 ? pace_in_front : pace_behind);
  set_busy(outcome, record, before < 2 ? std::min(end, again) : again, now);
}

// Grants the free lock to the first in the queue if it listens; if not, that one has to take it
// soon.
void LockTable::call_next(LockRecord& record, Clock::time_point now) {
  if (record.mode != Mode::free || record.queue.empty()) return;
  const HoldId first = record.queue.front().id;
  const auto its = std::find_if(record.subscriptions.begin(), record.subscriptions.end(),
                                [&](const auto& each) { return !each.grants && each.id == first; });
  const bool grantable = record.queue.front().grantable && its != record.subscriptions.end();
  if (!grantable) return record.call_first(now);
  record.queue.erase(record.queue.begin());
  record.hold(first, later(now, fair_grant_lease), 0, Mode::plain);
  Notification notification;
  notification.kind = Notification::Kind::granted;
  notification.key = record.key;
  notification.id = first;
  notification.place = next_place(now);
  its->subscriber->notify(notification);
}

}  // namespace latchkey::inline v1::detail
