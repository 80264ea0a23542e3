// Maintenance of the lock table beside the request itself: expiry, notifications, lists.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <type_traits>

#include "core/text/glob.hpp"
#include "memory/lock_table.hpp"

namespace latchkey::inline v1::detail {

using Mode = LockRecord::Mode;

void LockRecord::drop_ended(Clock::time_point now) noexcept {
  const auto ended = [now](const auto& entry) { return entry.ends <= now; };
  std::erase_if(holders, ended);
  std::erase_if(queue, ended);
  if (holders.empty()) mode = Mode::free;
  if (kept_for_writer <= now) kept_for_writer = Clock::time_point::min();
  if (processes_end <= now) processes.clear();
  if (processes.empty()) processes_end = Clock::never();
  first_end = is_kept_for_writer() ? kept_for_writer : Clock::never();
  first_end = std::min(first_end, processes_end);
  for (const Holder& holder : holders) first_end = std::min(first_end, holder.ends);
  for (const Place& place : queue) first_end = std::min(first_end, place.ends);
}

Clock::time_point LockRecord::last_end() const noexcept {
  Clock::time_point last = Clock::time_point::min();
  for (const Holder& holder : holders) last = std::max(last, holder.ends);
  return last;
}

void LockRecord::describe(Clock::time_point now, LockInfo& info) const {
  info.locked = !holders.empty();
  if (mode == Mode::read) info.type = LockType::READ;
  if (mode == Mode::write) info.type = LockType::WRITE;
  if (total != 0) {
    info.type = LockType::PERMIT;
    info.permits = PermitInfo{available(), total};
  }
  for (const Holder& holder : holders) {
    HolderInfo& its = info.holders.emplace_back();
    its.id = holder.id.text();
    if (holder.ends != Clock::never()) {
      its.left = std::chrono::ceil<std::chrono::milliseconds>(holder.ends - now);
    }
    if (holder.token != 0) info.fencing_token = holder.token;
  }
  for (const Place& place : queue) info.queue.push_back(place.id.text());
  info.subscribers = subscriptions.size();
}

void LockRecord::call_first(Clock::time_point now) noexcept {
  if (mode != Mode::free || queue.empty()) return;
  Clock::time_point& ends = queue.front().ends;
  ends = std::min(ends, later(now, called_wait));
  first_end = std::min(first_end, ends);
}

void LockRecord::enqueue(const Place& place) {
  queue.push_back(place);
  first_end = std::min(first_end, place.ends);
}

void LockRecord::reset() noexcept {
  mode = Mode::free;
  total = 0;
  first_end = Clock::never();
  kept_for_writer = Clock::time_point::min();
  processes_end = Clock::never();
  const auto empty = [](auto& list) {
    // A spare record keeps the usual capacity, not that of a rare crowd.
    if (list.capacity() > 64) {
      std::remove_reference_t<decltype(list)>().swap(list);
    } else {
      list.clear();
    }
  };
  empty(holders);
  empty(queue);
  empty(processes);
  empty(subscriptions);
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
