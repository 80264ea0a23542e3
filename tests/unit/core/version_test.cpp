// The version: the same in the headers, the library and the changelog.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include <latchkey/version.hpp>

namespace latchkey {
namespace {

TEST(Version, TheLibraryHasThatOfItsHeaders) {
  const std::string expected = std::to_string(LATCHKEY_VERSION / 10000) + "." +
                               std::to_string(LATCHKEY_VERSION / 100 % 100) + "." +
                               std::to_string(LATCHKEY_VERSION % 100);
  EXPECT_EQ(version(), expected);
}

TEST(Version, TheChangelogBeginsWithIt) {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind("tests/")) + "CHANGELOG.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::smatch first;
  ASSERT_TRUE(std::regex_search(text, first, std::regex("\n## ([0-9.]+)(, |\n)")));
  EXPECT_EQ(first[1].str(), version());
}

}  // namespace
}  // namespace latchkey
