// The store of the memory backend as a pure state machine.
// tidy: long-file because every request reads and changes the records of one table.
// SPDX-License-Identifier: BSL-1.0
#include "memory/lock_table.hpp"

#include <chrono>

#include "backend/refusals.hpp"
#include "core/text/glob.hpp"

namespace latchkey::inline v1::detail {
namespace {

using Mode = LockRecord::Mode;
using Kind = Outcome::Kind;
using std::chrono::milliseconds;

template <class List>
auto find_id(List& list, const HoldId& id) noexcept {
  return std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.id == id; });
}

Kind granted_if(bool yes) noexcept { return yes ? Kind::granted : Kind::gone; }

void prolong(Clock::time_point& end, Clock::time_point now, milliseconds length) noexcept {
  end = std::max(end, later(now, length));
}

bool remove_holder(LockRecord& record, const HoldId& id) noexcept {
  const auto holder = find_id(record.holders, id);
  if (holder == record.holders.end()) return false;
  record.holders.erase(holder);
  if (record.holders.empty()) record.mode = Mode::free;
  return true;
}

auto is_of(const HoldId& id) noexcept {
  return [id](const auto& entry) { return entry.id == id; };
}

bool remove_place(LockRecord& record, const HoldId& id) noexcept {
  return std::erase_if(record.queue, [&](const auto& place) { return place.id == id; }) != 0;
}

LockRecord::Subscription subscription_of(const Request& request, Subscriber* subscriber) noexcept {
  const bool of_one = request.type == LockType::FAIR || request.queues;
  return {subscriber, of_one ? request.id : HoldId{}, request.queues};
}

/// Whether the request, which has freed the lock, grants it to the process queue. The queue of FAIR
/// comes first for a FAIR request and a force_release of a plain lock. `held`: the mode before.
bool passes_on(const Request& request, Mode held, const LockRecord& record) noexcept {
  const bool nobody_fair = record.queue.empty();
  switch (request.verb) {
    case Verb::release:
    case Verb::leave: return request.type != LockType::FAIR || nobody_fair;
    case Verb::force_release: return held != Mode::plain || nobody_fair;
    default: return false;
  }
}

}  // namespace

void LockTable::set_busy(Outcome& outcome, const LockRecord& record, Clock::time_point end,
                         Clock::time_point now) {
  outcome.kind = Kind::busy;
  if (end != Clock::never()) {
    outcome.retry_after = std::max(milliseconds(1), std::chrono::ceil<milliseconds>(end - now));
  }
  outcome.holder = record.holders.empty() ? std::string() : record.holders.front().id.text();
}

void LockTable::apply_to_any(const Request& request, std::size_t hash, Clock::time_point now,
                             Subscriber* subscriber, Outcome& outcome) {
  if (request.verb != Verb::acquire) sweep(now);  // for an acquire, take() has done this
  if (request.verb == Verb::acquire_all) {
    return acquire_all(request, now, [this](std::size_t) -> LockTable& { return *this; }, outcome);
  }
  if (request.verb == Verb::list) {
    list(request, now);
    outcome.kind = Kind::granted;
    return;
  }
  if (request.verb == Verb::inspect) {
    *request.info = LockInfo{};
    request.info->key = request.key;
  }
  LockRecord* record = records_.find(request.key, hash);
  if (record == nullptr) {
    const bool nothing_to_say = request.verb == Verb::inspect ||
                                request.verb == Verb::unsubscribe || request.verb == Verb::revoke;
    const bool makes_one = request.verb == Verb::acquire || request.verb == Verb::subscribe ||
                           request.verb == Verb::resize;
    if (!makes_one) {
      outcome.kind = granted_if(nothing_to_say);
      return;
    }
    record = &records_.insert(request.key, hash);
  }
  const Before before = snapshot(*record);
  record->purge(now);
  const Mode held = record->mode;
  const bool first_leaves = held == Mode::free && request.verb == Verb::leave &&
                            !record->queue.empty() && record->queue.front().id == request.id;
  const bool of_lock = request.verb != Verb::subscribe && request.verb != Verb::unsubscribe;
  if (request.verb == Verb::revoke) {
    record->note_revocation(now);
    outcome.kind = Kind::granted;
  } else if (of_lock && (request.type == LockType::PERMIT || record->total != 0)) {
    apply_to_semaphore(*record, request, now, outcome);
  } else if (request.verb == Verb::acquire) {
    acquire(*record, request, now, outcome);
  } else {
    outcome.kind = act(*record, request, now, subscriber);
  }
  const bool freed = (held != Mode::free || first_leaves) && record->mode == Mode::free;
  const bool leaves = request.verb == Verb::leave && request.queues && held == Mode::free &&
                      outcome.kind == Kind::granted;
  const bool passes =
      ((freed && passes_on(request, held, *record)) || leaves) && !record->processes.empty();
  const std::uint32_t notified = settle(*record, before, now);
  if (request.verb == Verb::release) outcome.notified = notified;
  const HoldId releaser = request.verb == Verb::force_release ? HoldId{} : request.id;
  if (passes) pass_on(*record, releaser, notified, now);
}

Kind LockTable::act(LockRecord& record, const Request& request, Clock::time_point now,
                    Subscriber* subscriber) {
  const auto mine = find_id(record.holders, request.id);
  const bool there = mine != record.holders.end();
  const bool held = there && record.mode == LockRecord::mode_of(request.type);
  switch (request.verb) {
    case Verb::renew:
      if (held) prolong(mine->ends, now, request.lease);
      return granted_if(held);
    case Verb::verify: return granted_if(held);
    case Verb::downgrade:
      // A repeated downgrade finds a READ of this id.
      if (!there || record.mode == Mode::plain) return Kind::gone;
      record.mode = Mode::read;
      prolong(mine->ends, now, request.lease);
      return Kind::granted;
    case Verb::expire:
      if (held) mine->ends = std::min(mine->ends, later(now, request.lease));
      if (held) record.first_end = std::min(record.first_end, mine->ends);
      if (held) mine->outlives_process = true;
      return granted_if(held);
    case Verb::release: {
      const bool released = held && remove_holder(record, request.id);
      if (released && request.type == LockType::FAIR) call_next(record, now);
      return granted_if(released);
    }
    case Verb::leave: {
      const bool first = !record.queue.empty() && record.queue.front().id == request.id;
      bool queued = remove_place(record, request.id);
      if (request.queues) queued |= std::erase_if(record.processes, is_of(request.id)) != 0;
      // A WRITE may have become a READ, unless it has only waited.
      const bool downgraded =
          request.type == LockType::WRITE && record.mode == Mode::read && !request.queues;
      const bool released = (held || downgraded) && remove_holder(record, request.id);
      if ((first || released) && request.type == LockType::FAIR) call_next(record, now);
      return granted_if(released || queued);
    }
    case Verb::subscribe:
      if (const auto subscription = subscription_of(request, subscriber);
          std::find(record.subscriptions.begin(), record.subscriptions.end(), subscription) ==
          record.subscriptions.end()) {
        record.subscriptions.push_back(subscription);
      }
      return Kind::granted;
    case Verb::unsubscribe:
      std::erase(record.subscriptions, subscription_of(request, subscriber));
      return Kind::granted;
    case Verb::inspect: record.describe(now, *request.info); return Kind::granted;
    case Verb::force_release: {
      const bool any = !record.holders.empty();
      const bool plain = record.mode == Mode::plain;
      record.holders.clear();
      record.mode = Mode::free;
      if (plain) call_next(record, now);
      return granted_if(any);
    }
    case Verb::acquire:
    case Verb::acquire_all:
    case Verb::resize:
    case Verb::revoke:
    case Verb::list:  // handled by apply and apply_to_any
    case Verb::latch_set:
    case Verb::latch_down:
    case Verb::latch_count:
    case Verb::latch_delete: break;  // the space has a table of its own
  }
  return Kind::refused;
}

void LockTable::acquire(LockRecord& record, const Request& request, Clock::time_point now,
                        Outcome& outcome) {
  const Mode wanted = LockRecord::mode_of(request.type);
  const bool fenced = request.wants_token();

  if (const auto mine = find_id(record.holders, request.id);
      mine != record.holders.end() && record.mode == wanted) {
    prolong(mine->ends, now, request.lease);
    if (fenced && mine->token == 0) mine->token = last_token_ = next_token(request.tokens, now);
    outcome.kind = Kind::granted;
    outcome.token = fenced ? mine->token : 0;
    return;
  }

  const bool joins = wanted == Mode::read && record.mode == Mode::read;
  bool free = record.mode == Mode::free || joins;
  if (free && wanted == Mode::read && record.is_kept_for_writer()) {
    return set_busy(outcome, record, record.kept_for_writer, now);
  }
  if (request.type == LockType::FAIR) {
    const auto place = find_id(record.queue, request.id);
    free = free && (record.queue.empty() || place == record.queue.begin());
    if (!free) return queue_up(record, request, now, outcome);
    if (place != record.queue.end()) record.queue.erase(place);
  } else if (free && wanted != Mode::read && !record.processes.empty()) {
    free = now < record.turn_ends || !grant_first(record, request.id, now);
    if (free && std::erase_if(record.processes, is_of(request.id)) != 0) begin_turn(record, now);
  }
  if (!free) {
    if (wanted == Mode::write && record.mode == Mode::read && request.queue_wait.count() > 0) {
      record.keep_for_writer(later(now, request.queue_wait));
    }
    set_busy(outcome, record, record.last_end(), now);
    if (request.queues) outcome.place = take_place(record, request, now);
    return;
  }
  if (wanted == Mode::write) record.kept_for_writer = Clock::time_point::min();

  outcome.token = fenced ? next_token(request.tokens, now) : 0;
  record.hold(request.id, later(now, request.lease), outcome.token, wanted);
  if (fenced) last_token_ = outcome.token;
  outcome.kind = Kind::granted;
  return;
}

bool LockTable::blocks(const Member& member, std::size_t hash, Clock::time_point now,
                       Outcome& outcome) {
  LockRecord* record = records_.find(member.key, hash);
  if (record == nullptr) return false;
  if (record->total != 0) {
    outcome.kind = Kind::refused;
    outcome.reason = key_is_a_semaphore;
    return true;
  }
  const Before before = snapshot(*record);
  record->purge(now);
  const Mode wanted = LockRecord::mode_of(member.type);
  const bool mine =
      record->mode == wanted && find_id(record->holders, member.id) != record->holders.end();
  const bool joins = wanted == Mode::read && record->mode == Mode::read;
  bool blocked = record->mode != Mode::free && !mine && !joins;
  Clock::time_point end = record->last_end();
  if (!blocked && !mine && wanted == Mode::read && record->is_kept_for_writer()) {
    blocked = true;
    end = record->kept_for_writer;
  }
  if (member.type == LockType::FAIR && !mine && !record->queue.empty() &&
      record->queue.front().id != member.id) {
    blocked = true;
    for (const LockRecord::Place& place : record->queue) end = std::max(end, place.ends);
  }
  if (blocked) set_busy(outcome, *record, end, now);
  settle(*record, before, now);
  return blocked;
}

// The token of the member's hold; 0: it has none. Only for keys that `blocks` has just purged.
std::uint64_t LockTable::token_of(const Member& member, std::size_t hash) noexcept {
  LockRecord* const record = records_.find(member.key, hash);
  if (record == nullptr) return 0;
  const auto mine = find_id(record->holders, member.id);
  return mine == record->holders.end() ? 0 : mine->token;
}

void LockTable::take(const Member& member, std::size_t hash, Clock::time_point ends,
                     std::uint64_t token, Clock::time_point now) {
  LockRecord* record = records_.find(member.key, hash);
  if (record == nullptr) record = &records_.insert(member.key, hash);
  record->purge(now);
  const bool fenced = member.wants_token();
  if (const auto mine = find_id(record->holders, member.id); mine != record->holders.end()) {
    mine->ends = std::max(mine->ends, ends);
    if (fenced) mine->token = token;
  } else {
    remove_place(*record, member.id);
    record->hold(member.id, ends, fenced ? token : 0, LockRecord::mode_of(member.type));
  }
  if (member.type == LockType::WRITE) record->kept_for_writer = Clock::time_point::min();
  if (fenced) last_token_ = std::max(last_token_, token);
}

std::uint64_t LockTable::next_token(std::uint32_t tokens, Clock::time_point now) const noexcept {
  const auto time = std::chrono::floor<std::chrono::microseconds>(now.time_since_epoch()).count();
  const std::uint64_t next = last_token_ + std::max<std::uint32_t>(1, tokens);
  return time > 0 ? std::max(next, static_cast<std::uint64_t>(time)) : next;
}

LockTable::Before LockTable::snapshot(const LockRecord& record) noexcept {
  const std::int64_t available = record.total == 0 ? 0 : record.available();
  return {record.mode, record.queue.empty() ? HoldId{} : record.queue.front().id, available};
}

std::uint32_t LockTable::settle(LockRecord& record, const Before& before,
                                Clock::time_point now) noexcept {
  std::uint32_t notified = 0;
  const bool free = record.mode == Mode::free;
  const bool came_free = free && before.mode != Mode::free;
  const bool permits_came =
      record.total != 0 && record.available() > std::max<std::int64_t>(before.available, 0);
  const bool opened =
      came_free || permits_came || (record.mode == Mode::read && before.mode == Mode::write);
  const HoldId first = record.queue.empty() ? HoldId{} : record.queue.front().id;
  const bool moved = first.number != 0 && first != before.first;
  // A waiter that has become the first must try again at once if the lease that it waits for is
  // short.
  const bool soon = moved && before.first.number != 0 && !free &&
                    record.holders.front().ends - now < LockRecord::called_wait;
  const bool next = (free && first.number != 0 && (came_free || moved)) || soon;
  if (opened || next) {
    Notification notification;
    notification.kind = Notification::Kind::released;
    notification.key = record.key;
    for (const LockRecord::Subscription& subscription : record.subscriptions) {
      if (subscription.grants) continue;
      const bool of_the_key = subscription.id.number == 0;
      if (of_the_key ? !opened : !(next && subscription.id == first)) continue;
      notification.id = subscription.id;
      if (of_the_key) ++notified;
      subscription.subscriber->notify(notification);
    }
  }
  if (record.idle()) records_.erase(record);
  return notified;
}

void LockTable::drop_some_ended(Clock::time_point now) noexcept {
  records_.visit_some([&](LockRecord& record) {
    if (record.first_end > now && !record.idle()) return;
    const Before before = snapshot(record);
    record.purge(now);
    settle(record, before, now);
  });
}

void LockTable::list(const Request& request, Clock::time_point now) {
  const bool awaited = request.part != nullptr && request.part->awaited;
  const auto first = static_cast<std::ptrdiff_t>(request.names->size());
  records_.for_each([&](LockRecord& record) {
    const Before before = snapshot(record);
    record.purge(now);
    const std::size_t waiters = std::max(record.subscriptions.size(), record.queue.size());
    if ((awaited ? waiters > 0 : !record.holders.empty()) &&
        glob_matches(request.key, record.key)) {
      request.names->emplace_back(record.key.view());
      if (awaited) request.part->waiters.push_back(waiters);
    }
    settle(record, before, now);
  });
  if (request.part != nullptr) return;
  // The table's order is that of hashes, which is arbitrary.
  std::sort(request.names->begin() + first, request.names->end());
}

void LockTable::forget(const Subscriber& subscriber) noexcept {
  records_.for_each([&](LockRecord& record) {
    std::erase_if(record.subscriptions,
                  [&](const auto& subscription) { return subscription.subscriber == &subscriber; });
    if (record.idle()) records_.erase(record);
  });
}

}  // namespace latchkey::inline v1::detail
