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
  std::string said_by;  ///< "rule 'Bank::*'", "policy 'money'", "defaults", "the code"
  int line = 0;         ///< the line in the file; 0: the code
};

/// One LOCKED of one method.
struct Explanation {
  std::string where;
  std::string lock;  ///< `LOCKED("account:{account.id}", LockType::READ)`
  std::vector<ExplainedSetting> settings;
};

/// Explains every LOCKED of the methods that `method` names, with the syntax of a rule: the
/// settings that the file decides, and those that the code decides, as they are written there. All
/// others have latchkey's defaults. A `hold_for` or `held_at_most` in code is known only when the
/// call is made.
[[nodiscard]] std::vector<Explanation> explain_policies(const detail::PolicyFile& file,
                                                        const detail::Program& program,
                                                        const std::string& method);

[[nodiscard]] std::string explanation_text(const Explanation& explanation);
/// One JSON object and a newline: where, lock, settings [setting, value, said_by, line].
[[nodiscard]] std::string explanation_json(const Explanation& explanation);

}  // namespace latchkey::inline v1::cli
