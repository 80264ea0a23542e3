// docs/operate.md, "Inspecting and force-releasing locks": its snippet stands here and runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

#include <latchkey/default_locks.hpp>
#include <latchkey/lock_info.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// clang-format off: the page's own lines
bool take_away(std::ostream& out) {
  // The installed Locks are those that LOCKED uses.
  const latchkey::Locks& locks = latchkey::default_locks();

  // Which keys are locked now? A glob: *, ?, [abc].
  for (const std::string& key : locks.list("account:*")) {
    // Who holds this one, and for how long?
    const latchkey::LockInfo info = locks.inspect(key);
    for (const auto& holder : info.holders) {
      out << key << " is held by " << holder.id;
      if (holder.left) out << ", its lease ends in " << holder.left->count() << " ms";
      out << '\n';
    }
  }

  // Somebody holds it who will never give it back.
  const bool was_held = locks.force_release("account:42");
  return was_held;
}
// clang-format on

std::string content(const char* name) {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind("/tests/") + 1) + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Without the spaces at the beginnings of lines.
std::string unindented(const std::string& text) {
  std::string result;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t from = line.find_first_not_of(' ');
    if (from != std::string::npos) result += line.substr(from) + '\n';
  }
  return result;
}

TEST(DocsOperations, TheSnippetRunsAsThePageSays) {
  const std::string page = content("docs/operate.md");
  const std::size_t section = page.find("\n## Inspecting and force-releasing locks\n");
  ASSERT_NE(section, std::string::npos);
  const std::size_t from = page.find("```cpp\n", section) + 7;
  const std::string snippet = page.substr(from, page.find("```", from) - from);
  EXPECT_THAT(unindented(content("tests/unit/locked/docs_operations_test.cpp")),
              HasSubstr(unindented(snippet)));
  const latchkey::testing::ScopedLocks scope;
  latchkey::Hold hold = latchkey::default_locks().lock("account:42").acquire(0ms, 1min);
  const latchkey::Hold other = latchkey::default_locks().lock("order:1").acquire();
  std::ostringstream out;
  EXPECT_TRUE(take_away(out));
  EXPECT_THAT(out.str(), HasSubstr("account:42 is held by "));
  EXPECT_THAT(out.str(), HasSubstr(", its lease ends in "));
  EXPECT_THAT(out.str(), ::testing::Not(HasSubstr("order:1")));
  EXPECT_FALSE(take_away(out)) << "nobody holds it any more";
  EXPECT_FALSE(hold.release());
}

}  // namespace
