// The process queue of the lock table: the rules of lua/parts/process_queue.lua.
#include <algorithm>
#include <chrono>
#include <cstdint>

#include "memory/lock_table.hpp"

namespace latchkey::detail {
namespace {

/// All places end this long after the last attempt of any process. Waiters try again every second.
constexpr std::chrono::seconds processes_life{10};

LockRecord::Subscription* subscription_to_grants(LockRecord& record, const HoldId& of) noexcept {
  const auto found =
      std::find_if(record.subscriptions.begin(), record.subscriptions.end(),
                   [&](const auto& each) { return each.grants && each.id.space == of.space; });
  return found == record.subscriptions.end() ? nullptr : &*found;
}

}  // namespace

std::uint64_t LockTable::take_place(LockRecord& record, const Request& request,
                                    Clock::time_point now) {
  const auto own = std::find_if(record.processes.begin(), record.processes.end(),
                                [&](const auto& each) { return each.id == request.id; });
  std::uint64_t place = 0;
  if (own != record.processes.end()) {
    place = own->place;
  } else {
    const auto time = std::chrono::floor<std::chrono::microseconds>(now.time_since_epoch()).count();
    place = last_place_ + 1;
    if (time > 0) place = std::max(place, static_cast<std::uint64_t>(time));
    last_place_ = place;
    const std::uint32_t tokens = request.type == LockType::FENCED ? request.tokens : 0;
    record.processes.push_back({request.id, request.type, request.lease, tokens, place});
  }
  record.processes_end = later(now, processes_life);
  record.first_end = std::min(record.first_end, record.processes_end);
  return place;
}

bool LockTable::grant_first(LockRecord& record, const HoldId& until, Clock::time_point now) {
  while (!record.processes.empty() && record.processes.front().id != until) {
    const LockRecord::Process first = record.processes.front();
    record.processes.erase(record.processes.begin());
    const LockRecord::Subscription* const its = subscription_to_grants(record, first.id);
    if (its == nullptr) continue;
    std::uint64_t token = 0;
    if (first.tokens > 0) token = last_token_ = next_token(first.tokens, now);
    const auto lease = std::min<std::chrono::milliseconds>(first.lease, grant_lease);
    record.hold(first.id, later(now, lease), token, LockRecord::mode_of(first.type));
    if (first.type == LockType::WRITE) record.kept_for_writer = Clock::time_point::min();
    Notification notification;
    notification.kind = Notification::Kind::granted;
    notification.key = record.key;
    notification.id = first.id;
    notification.place = first.place;
    notification.token = token;
    its->subscriber->notify(notification);
    return true;
  }
  return false;
}

// A late copy of the releaser's acquire may have taken a place. `notified`: how many others listen
// to the key.
void LockTable::pass_on(LockRecord& record, const HoldId& releaser, std::uint32_t notified,
                        Clock::time_point now) {
  std::erase_if(record.processes, [&](const auto& each) { return each.id == releaser; });
  if (notified == 0 || record.processes.empty()) {
    if (!grant_first(record, HoldId{}, now) && record.idle()) records_.erase(record);
    return;
  }
  const LockRecord::Subscription* const first =
      subscription_to_grants(record, record.processes.front().id);
  if (first == nullptr) return;
  Notification notification;
  notification.kind = Notification::Kind::released;
  notification.key = record.key;
  notification.id = first->id;
  first->subscriber->notify(notification);
}

}  // namespace latchkey::detail
