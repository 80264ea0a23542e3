// Policy files for tests, each in a temporary folder.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/install.hpp>

namespace latchkey::tests {

/// A file that is removed with it.
class PolicyText {
 public:
  explicit PolicyText(const std::string& text)
      : path_(::testing::TempDir() + "latchkey-" + std::to_string(::getpid()) + "-" +
              std::to_string(next()++) + ".yaml") {
    write(text);
  }
  PolicyText(const PolicyText&) = delete;
  PolicyText& operator=(const PolicyText&) = delete;
  ~PolicyText() { std::remove(path_.c_str()); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Replaces the file atomically: a concurrent reader sees the old text or the new one.
  void write(const std::string& text) const {
    const std::string whole = path_ + ".new";
    std::ofstream(whole, std::ios::binary) << text;
    std::rename(whole.c_str(), path_.c_str());
  }

 private:
  static int& next() {
    static int number = 0;
    return number;
  }

  std::string path_;
};

/// The part that every file must have: the program's LOCKED_BY takes its lock from there.
inline const std::string money = "policies:\n  money:\n    key: \"money:{account.id}\"\n";
inline const std::string memory = "backends:\n  main: \"memory:\"\n";

/// "line:column sentence" for each mistake of a file.
inline std::vector<std::string> mistakes(const std::string& text) {
  const PolicyText file(text);
  std::vector<std::string> all;
  for (const PolicyError& error : latchkey::check_policy_file(file.path())) {
    const std::string place = std::to_string(error.line()) + ":" + std::to_string(error.column());
    const std::string before = file.path() + (error.line() > 0 ? ":" + place : "") + ": ";
    const std::string whole = error.what();
    EXPECT_TRUE(whole.starts_with(before)) << whole;
    all.push_back(place + " " + whole.substr(before.size()));
  }
  return all;
}

}  // namespace latchkey::tests
