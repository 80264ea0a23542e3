// Puts the policies of a file in force for one scope of a test.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <string>

#include <latchkey/detail/locked/site_policy.hpp>

namespace latchkey::inline v1::testing {

/// While it lives, decorated calls of every thread that begin take the policies of a file
/// (docs/policies.md), instead of those that are in force. A ScopedLocks gives them their locks.
///
///     TEST(Bank, LocksTheAccountAsItsRuleSays) {
///       const latchkey::testing::ScopedLocks locks;
///       const auto policies = latchkey::testing::ScopedPolicies::from_text(
///           "rules: {\"Bank::deposit\": {type: FAIR}}");
///       Bank().deposit({42}, 10);
///       EXPECT_THAT(locks.taken(), ElementsAre(Taken{"account:42", LockType::FAIR}));
///     }
///
/// The file is checked as at the start of the service, against the methods that the test program
/// has. It may name others, as that of the whole service does, and it may lack policies of methods
/// that the test does not call. Its backends are not connected, its prefix has no effect, and
/// ${NAME} needs no value. A build without yaml-cpp refuses every file.
///
/// Scopes nest, and end in reverse order. Each one's policies stay in memory, because calls of
/// other threads may still use them.
class [[nodiscard]] ScopedPolicies {
 public:
  /// Throws one PolicyError with all mistakes.
  static ScopedPolicies from_file(const std::string& path);
  /// Like from_file, for the text of a file; errors call it "the test's policies".
  static ScopedPolicies from_text(const std::string& yaml);
  ScopedPolicies(const ScopedPolicies&) = delete;
  ScopedPolicies& operator=(const ScopedPolicies&) = delete;
  ~ScopedPolicies();

 private:
  ScopedPolicies(const std::string& name, const std::optional<std::string>& text);

  const ::latchkey::detail::PolicyTable* outer_;
};

}  // namespace latchkey::inline v1::testing
