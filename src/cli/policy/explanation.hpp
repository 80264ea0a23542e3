// The effective settings of a method from a policy file, with the part of the file that sets each.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <vector>

#include "install/lock_places.hpp"
#include "policy/policy_file.hpp"

namespace latchkey::inline v1::cli {

/// One effective setting.
struct ExplainedSetting {
  std::string name;
  std::string value;
  std::string said_by;  ///< "rule 'Bank::*'", "policy 'money'", "defaults"
  int line = 0;
};

/// One LOCKED of one method.
struct Explanation {
  std::string where;
  std::string lock;                        ///< `LOCKED("account:{account.id}")`
  std::vector<ExplainedSetting> settings;  ///< those that the file sets
};

/// Explains every LOCKED of the methods that `method` names, with the syntax of a rule. Settings
/// that the file does not have come from the code or are latchkey's defaults; a setting in
/// `defaults` applies only if the code does not set it.
[[nodiscard]] std::vector<Explanation> explain_policies(
    const detail::PolicyFile& file, const std::vector<detail::LockPlace>& places,
    const std::string& method);

[[nodiscard]] std::string explanation_text(const Explanation& explanation);
/// One JSON object and a newline: where, lock, settings [setting, value, said_by, line].
[[nodiscard]] std::string explanation_json(const Explanation& explanation);

}  // namespace latchkey::inline v1::cli
