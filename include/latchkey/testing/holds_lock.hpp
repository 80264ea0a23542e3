// A matcher for held locks.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <utility>

#include <latchkey/hold.hpp>
#include <latchkey/lock_info.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace latchkey::inline v1::testing {

/// The GoogleMock matcher that HoldsLock returns.
class HoldsLockMatcher {
 public:
  using is_gtest_matcher = void;

  HoldsLockMatcher(std::string key, std::optional<LockType> type)
      : key_(std::move(key)), type_(type) {}

  // NOLINTBEGIN(readability-identifier-naming): GoogleMock's names
  bool MatchAndExplain(const Hold& hold, std::ostream* out) const;
  bool MatchAndExplain(const Hold* hold, std::ostream* out) const;
  bool MatchAndExplain(const Locks& locks, std::ostream* out) const;
  bool MatchAndExplain(const ScopedLocks& locks, std::ostream* out) const;
  void DescribeTo(std::ostream* out) const;
  void DescribeNegationTo(std::ostream* out) const;
  // NOLINTEND(readability-identifier-naming)

 private:
  [[nodiscard]] bool fits(LockType type) const noexcept { return !type_ || *type_ == type; }
  [[nodiscard]] bool fits(const LockInfo& info) const noexcept;

  std::string key_;
  std::optional<LockType> type_;
};

/// Matches if this lock is held, and with this type if it is given.
///
///     EXPECT_THAT(latchkey::current_hold(), HoldsLock("account:42", LockType::WRITE));
///     EXPECT_THAT(locks, Not(HoldsLock("account:42")));
///
/// | value              | matches if                                                            |
/// |--------------------|-----------------------------------------------------------------------|
/// | Hold, Hold*        | it is for that key and not lost; never if null                        |
/// | Locks, ScopedLocks | any owner holds the key now, according to the backend, which does not |
/// |                    | distinguish REENTRANT, FAIR and FENCED. Throws BackendRefused if the  |
/// |                    | backend has no administration                                         |
[[nodiscard]] inline HoldsLockMatcher HoldsLock(std::string key,
                                                std::optional<LockType> type = std::nullopt) {
  return {std::move(key), type};
}

}  // namespace latchkey::inline v1::testing
