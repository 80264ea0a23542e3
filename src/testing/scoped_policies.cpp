// Puts the policies of a file in force for one scope of a test.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/testing/scoped_policies.hpp>

namespace latchkey::inline v1::testing {

ScopedPolicies::ScopedPolicies(const std::string& name, const std::optional<std::string>& text)
    : outer_(
          ::latchkey::detail::publish_policies(&::latchkey::detail::policies_of_test(name, text))) {
}

ScopedPolicies ScopedPolicies::from_file(const std::string& path) { return {path, std::nullopt}; }

ScopedPolicies ScopedPolicies::from_text(const std::string& yaml) {
  return {"the test's policies", yaml};
}

ScopedPolicies::~ScopedPolicies() { ::latchkey::detail::publish_policies(outer_); }

}  // namespace latchkey::inline v1::testing
