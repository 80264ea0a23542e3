// Who is told when somebody asks for a key of the memory backend.
// SPDX-License-Identifier: BSL-1.0
#include "memory/revocation_table.hpp"

#include <algorithm>
#include <iterator>

namespace latchkey::inline v1::detail {

std::size_t RevocationTable::notify(std::string_view key) const noexcept {
  const auto at = subscribers_.find(key);
  if (at == subscribers_.end()) return 0;
  Notification notification;
  notification.kind = Notification::Kind::revoked;
  notification.key = at->first;
  for (Subscriber* const each : at->second) each->notify(notification);
  return at->second.size();
}

void RevocationTable::change_subscription(const Request& request, Subscriber& subscriber) {
  if (request.verb == Verb::subscribe) {
    std::vector<Subscriber*>& all =
        subscribers_.try_emplace(std::string(request.key)).first->second;
    if (std::ranges::find(all, &subscriber) == all.end()) all.push_back(&subscriber);
    return;
  }
  const auto at = subscribers_.find(request.key);
  if (at == subscribers_.end()) return;
  std::erase(at->second, &subscriber);
  if (at->second.empty()) subscribers_.erase(at);
}

void RevocationTable::forget(const Subscriber& subscriber) noexcept {
  for (auto at = subscribers_.begin(); at != subscribers_.end();) {
    std::erase(at->second, &subscriber);
    at = at->second.empty() ? subscribers_.erase(at) : std::next(at);
  }
}

}  // namespace latchkey::inline v1::detail
