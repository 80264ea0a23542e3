// The real tool, run by tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/process.hpp"
#include "support/temporary_folder.hpp"

namespace latchkey::tests {

/// The command line of the tool: `latchkey` and the words.
inline std::vector<std::string> latchkey(std::vector<std::string> words) {
  words.insert(words.begin(), LATCHKEY_TOOL);
  return words;
}

/// `latchkey run` with the words of `options`, and a script for /bin/sh as the command.
inline std::vector<std::string> latchkey_run(const std::string& uri,
                                             const std::vector<std::string>& options,
                                             const std::string& script) {
  std::vector<std::string> words{"run", uri};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", "/bin/sh", "-c", script});
  return latchkey(std::move(words));
}

}  // namespace latchkey::tests
