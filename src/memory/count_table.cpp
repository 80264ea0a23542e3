// The latches of the memory backend.
// SPDX-License-Identifier: BSL-1.0
#include "memory/count_table.hpp"

#include <algorithm>

namespace latchkey::inline v1::detail {

using Kind = Outcome::Kind;

void CountTable::apply(const Request& request, Subscriber* subscriber, Outcome& outcome) {
  outcome.kind = Kind::granted;
  if (request.latch) return change_subscription(request, *subscriber);
  if (request.verb == Verb::latch_set) return set(request, outcome);
  const auto at = latches_.find(request.key);
  const bool there = at != latches_.end() && at->second.count != 0;
  if (!there) {
    if (request.verb == Verb::latch_delete) outcome.kind = Kind::gone;
    return;
  }
  if (request.verb == Verb::latch_down) outcome.token = --at->second.count;
  if (request.verb == Verb::latch_delete) at->second.count = 0;
  if (request.verb == Verb::latch_count) outcome.token = at->second.count;
  if (at->second.count == 0) notify(*at);
  erase_if_unused(at);
}

void CountTable::set(const Request& request, Outcome& outcome) {
  const auto at = latches_.try_emplace(std::string(request.key)).first;
  if (at->second.count != 0) {
    outcome.kind = Kind::gone;
    return;
  }
  at->second.count = std::max<std::uint32_t>(1, request.tokens);
  outcome.token = at->second.count;
  notify(*at);
}

void CountTable::change_subscription(const Request& request, Subscriber& subscriber) {
  if (request.verb == Verb::subscribe) {
    const auto at = latches_.try_emplace(std::string(request.key)).first;
    std::vector<Subscriber*>& all = at->second.subscribers;
    if (std::ranges::find(all, &subscriber) == all.end()) all.push_back(&subscriber);
    return;
  }
  const auto at = latches_.find(request.key);
  if (at == latches_.end()) return;
  std::erase(at->second.subscribers, &subscriber);
  erase_if_unused(at);
}

void CountTable::notify(const Latches::value_type& entry) noexcept {
  Notification notification;
  notification.kind = Notification::Kind::counted;
  notification.key = entry.first;
  for (Subscriber* const each : entry.second.subscribers) each->notify(notification);
}

void CountTable::erase_if_unused(Latches::iterator at) noexcept {
  if (at->second.count == 0 && at->second.subscribers.empty()) latches_.erase(at);
}

void CountTable::forget(const Subscriber& subscriber) noexcept {
  for (auto at = latches_.begin(); at != latches_.end();) {
    const auto next = std::next(at);
    std::erase(at->second.subscribers, &subscriber);
    erase_if_unused(at);
    at = next;
  }
}

}  // namespace latchkey::inline v1::detail
