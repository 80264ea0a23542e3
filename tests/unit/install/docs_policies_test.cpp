// docs/policies.md, loaded and compiled: its snippets stand here word for word, its tables are
// checked.
#include <latchkey/latchkey.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "policy/settings.hpp"
#include "unit/policy/policy_text.hpp"

// clang-format off: the page's own lines
namespace docs_policies {

using latchkey::LockType;

struct Account {
  int id = 0;
  LATCHKEY_REFLECT(Account);
};

struct Store {
  std::optional<Account> find(int id) const { return Account{id}; }
  void add(int, long amount) { sum += amount; }
  void print() const {}

  long sum = 0;
};

class Bank {
 public:
  std::optional<Account> find(int id) const {
    return LOCKED("account:{id}", LockType::READ) AROUND(id) { return store_.find(id); };
  }
  void deposit(const Account& account, long amount) {
    return LOCKED_BY("money") AROUND(account, amount) { store_.add(account.id, amount); };
  }
  void report() {
    return LOCKED("report") AROUND() { store_.print(); };
  }

 private:
  Store store_;
};

void start() {
  // Once, at the start of main, instead of latchkey::install.
  latchkey::install_from("latchkey.yaml", {.announce = true});
}

void verify() {
  for (const latchkey::PolicyError& error : latchkey::check_policy_file("latchkey.yaml")) {
    std::cerr << error.what() << '\n';  // latchkey.yaml:12:5: unknown key 'wiat'; …
  }
}

void on_hangup() {
  try {
    latchkey::reload_policies();
  } catch (const latchkey::PolicyError& error) {
    std::cerr << error.what() << '\n';  // the policies in force stay
  }
}

}  // namespace docs_policies
// clang-format on

namespace latchkey::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string content(const char* name) {
  const std::string here = __FILE__;
  std::ifstream file(here.substr(0, here.rfind("/tests/") + 1) + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> snippets(const std::string& page, const std::string& language) {
  std::vector<std::string> all;
  const std::string begin = "```" + language + "\n";
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    all.push_back(page.substr(from, page.find("```", from) - from));
  }
  return all;
}

std::string with_local_redis(std::string text) {
  const std::string redis = "redis://:${REDIS_PASSWORD}@127.0.0.1:6379/0";
  const std::size_t at = text.find(redis);
  return at == std::string::npos ? text : text.replace(at, redis.size(), "\"memory:main\"");
}

TEST(DocsPolicies, EverySnippetIsCompiledHere) {
  const std::string source = content("tests/unit/install/docs_policies_test.cpp");
  const auto all = snippets(content("docs/policies.md"), "cpp");
  EXPECT_EQ(all.size(), 4U);
  for (const std::string& snippet : all) EXPECT_THAT(source, HasSubstr(snippet));
}

TEST(DocsPolicies, TheFileLoads) {
  const auto all = snippets(content("docs/policies.md"), "yaml");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(mistakes(with_local_redis(all.front())), ::testing::IsEmpty());
}

/// "yes" or "" per column, as the page prints them.
std::string row(const detail::PolicySetting& setting) {
  const auto cell = [](bool may) { return may ? std::string(" yes |") : std::string(" |"); };
  return cell(setting.in_defaults) + cell(setting.in_policies) + cell(setting.in_rules) + "\n";
}

TEST(DocsPolicies, EverySettingHasARow) {
  const std::string page = content("docs/policies.md");
  for (const std::string_view section : detail::sections) {
    EXPECT_THAT(page, HasSubstr("| `" + std::string(section) + "` | "));
  }
  for (const detail::PolicySetting& setting : detail::policy_settings) {
    const std::size_t at =
        page.find("| `" + std::string(setting.name) + "` | ", page.find("## The settings"));
    ASSERT_NE(at, std::string::npos) << setting.name;
    const std::string line = page.substr(at, page.find('\n', at) + 1 - at);
    EXPECT_TRUE(line.ends_with(" |" + row(setting))) << line;
  }
  const auto values = [&](const auto& names) {
    std::string text;
    for (const auto& [name, value] : names) {
      text += (text.empty() ? "`" : ", `") + std::string(name) + "`";
    }
    EXPECT_THAT(page, HasSubstr("| " + text + " |"));
  };
  values(detail::type_names);
  values(detail::on_timeout_names);
  values(detail::on_unavailable_names);
  values(detail::on_lost_names);
  values(detail::unlocked_names);
  values(detail::fenced_names);
}

/// Each first cell of the table of what YAML surprises with is refused, each last one is not.
TEST(DocsPolicies, YamlPitfallsAreRejectedAndThePagesSpellingIsNot) {
  const std::string page = content("docs/policies.md");
  std::istringstream table(page.substr(page.find("| written | read by YAML as |")));
  std::string line;
  std::getline(table, line);
  std::getline(table, line);
  int rows = 0;
  while (std::getline(table, line) && line.starts_with("| `")) {
    const std::string wrong = line.substr(3, line.find("` |") - 3);
    const std::size_t last = line.rfind("| `") + 3;
    const std::string right = line.substr(last, line.rfind('`') - last);
    const auto file = [](const std::string& one) {
      if (one.starts_with("main")) return "backends:\n  " + one + "\n" + money;
      const bool rule = one.find("::") != std::string::npos;
      return memory + money + "rules:\n  " +
             (rule ? one + " {wait: 1s}\n" : "Traps::all:\n    " + one + "\n");
    };
    EXPECT_EQ(mistakes(file(wrong)).size(), 1U) << wrong;
    EXPECT_THAT(mistakes(file(wrong)), ::testing::Contains(HasSubstr("quote")));
    EXPECT_THAT(mistakes(file(right)), ::testing::IsEmpty()) << right;
    ++rows;
  }
  EXPECT_EQ(rows, 6);
}

struct User {
  int id = 0;
  LATCHKEY_REFLECT(User);
};
struct Traps {
  static void all(const User& user) { LOCKED("user") AROUND(user){}; }
};

}  // namespace
}  // namespace latchkey::tests
