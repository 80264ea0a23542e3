// Who is told when somebody asks for a key of the memory backend.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/backend.hpp>

#include "memory/lock_record.hpp"

namespace latchkey::inline v1::detail {

/// The subscribers to the revocations of each key. A key is here only while it has one. One thread
/// at a time.
class RevocationTable {
 public:
  [[nodiscard]] static bool serves(const Request& request) noexcept {
    return request.verb == Verb::revoke || request.revocations;
  }

  /// Carries out a request that it serves; a subscription alone uses `subscriber`. `outcome` is
  /// newly made. Throws std::bad_alloc and then changes nothing.
  void apply(const Request& request, Subscriber* subscriber, Outcome& outcome);

  /// Ends all subscriptions of `subscriber`.
  void forget(const Subscriber& subscriber) noexcept;

 private:
  void change_subscription(const Request& request, Subscriber& subscriber);

  std::map<std::string, std::vector<Subscriber*>, std::less<>> subscribers_;
};

}  // namespace latchkey::inline v1::detail
