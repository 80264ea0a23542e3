// What a policy file says of a method, word by word, and who says it.
#pragma once

#include <string>
#include <vector>

#include "install/lock_places.hpp"
#include "policy/policy_file.hpp"

namespace latchkey::cli {

/// One word in force.
struct ExplainedWord {
  std::string word;
  std::string value;
  std::string said_by;  ///< "rule 'Bank::*'", "policy 'money'", "defaults"
  int line = 0;
};

/// One LOCKED of one method.
struct Explanation {
  std::string where;
  std::string lock;                  ///< `LOCKED("account:{account.id}")`
  std::vector<ExplainedWord> words;  ///< those that the file decides
};

/// For every LOCKED of the methods that `method` names, as a rule would. Words that the file says
/// nothing of are the code's, or latchkey's defaults; a word of `defaults` holds only where the
/// code says nothing.
[[nodiscard]] std::vector<Explanation> explain_policies(
    const detail::PolicyFile& file, const std::vector<detail::LockPlace>& places,
    const std::string& method);

[[nodiscard]] std::string explanation_text(const Explanation& explanation);
/// One JSON object on one line: where, lock, words [word, value, said_by, line].
[[nodiscard]] std::string explanation_json(const Explanation& explanation);

}  // namespace latchkey::cli
