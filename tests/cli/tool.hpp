// The real tool, run by tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace latchkey::tests {

/// A temporary folder of one test, wiped at its end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "latchkey-cli-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path_ / name).rdbuf();
    return text.str();
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::filesystem::exists(path_ / name);
  }

 private:
  std::filesystem::path path_;
};

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
