// Reloads a policy file: allowed changes apply at once, others are refused.
#include <gtest/gtest.h>

#include <string>

#include <latchkey/default_locks.hpp>
#include <latchkey/error.hpp>
#include <latchkey/install.hpp>
#include <latchkey/locks.hpp>

#include "support/child.hpp"
#include "unit/policy/policy_text.hpp"
#include "unit/policy/till.hpp"

namespace latchkey::tests {
namespace {

using till::Account;
using till::Till;
using namespace std::chrono_literals;

const Account account{7, "ada", 0};

std::string with_rule(const std::string& words) {
  return memory + money + "rules:\n  Till::deposit:\n" + words;
}

/// "line:column" of each error; "" if the file is accepted.
std::string refused(const PolicyText& file, const std::string& text, const char* part) {
  file.write(text);
  try {
    reload_policies();
    return "";
  } catch (const PolicyError& error) {
    std::string places;
    for (const PolicyError& one : error.all()) {
      places += std::to_string(one.line()) + ":" + std::to_string(one.column()) + " ";
      if (std::string(one.what()).find(part) == std::string::npos) places += one.what();
    }
    return places;
  }
}

TEST(Reload, AppliesChangesThatNeedNoRestart) {
  EXPECT_EQ(in_child([](Findings& findings) {
              const PolicyText file(with_rule("    lease: 100s\n"));
              install_from(file.path());
              Till till;
              const auto before = till.deposit(account).lease;
              CHILD_EXPECT(findings, before > 50s && before < 101s);
              CHILD_EXPECT(findings, refused(file, with_rule("    lease: 1000s\n"), "") == "");
              CHILD_EXPECT(findings, till.deposit(account).lease > 900s);
              CHILD_EXPECT(findings, refused(file, memory + money, "") == "");
              CHILD_EXPECT(findings, till.deposit(account).lease < 31s);
              const std::string more = "  Till::withdraw: {lease: 700s}\n";
              CHILD_EXPECT(findings, refused(file, memory + money + "rules:\n" + more, "") == "");
              CHILD_EXPECT(findings, till.withdraw(account).lease > 600s);
            }),
            "");
}

TEST(Reload, ACallInFlightKeepsItsPolicy) {
  EXPECT_EQ(in_child([](Findings& findings) {
              const auto rule = [](const char* word) {
                return memory + money + "rules: {Till::during: {on_lost: " + word + "}}\n";
              };
              const PolicyText file(rule("report"));
              install_from(file.path());
              const auto lose = [] { default_locks().force_release("till:7"); };
              Till().during(account, [&] {
                lose();
                CHILD_EXPECT(findings, refused(file, rule("raise"), "") == "");
              });
              bool thrown = false;
              try {
                Till().during(account, lose);
              } catch (const LockLost&) {
                thrown = true;
              }
              CHILD_EXPECT(findings, thrown);
            }),
            "");
}

TEST(Reload, ABadFileChangesNothing) {
  EXPECT_EQ(in_child([](Findings& findings) {
              const PolicyText file(with_rule("    lease: 100s\n"));
              install_from(file.path());
              const std::string bad = with_rule("    lease: 1000s\n    wiat: 3s\n");
              CHILD_EXPECT(findings, refused(file, bad, "did you mean 'wait'?") == "9:5 ");
              CHILD_EXPECT(findings, refused(file, "", "not a policy file") != "");
              const auto lease = Till().deposit(account).lease;
              CHILD_EXPECT(findings, lease > 50s && lease < 101s);
            }),
            "");
}

TEST(Reload, AChangeOfWhichLockGuardsAMethodNeedsARestart) {
  EXPECT_EQ(in_child([](Findings& findings) {
              const std::string start = with_rule("    type: WRITE\n    key: \"x:{account.id}\"\n");
              const PolicyText file(start);
              install_from(file.path());
              const char* const part = "needs a restart";
              const auto is = [&](const std::string& text, const std::string& places) {
                const std::string found = refused(file, text, part);
                findings.expect(found == places, (places + "expected, not " + found).c_str());
              };
              is(with_rule("    type: FAIR\n    key: \"x:{account.id}\"\n"), "7:3 ");
              is(with_rule("    type: WRITE\n    key: \"y:{account.id}\"\n"), "9:10 ");
              is(with_rule("    type: WRITE\n    key: \"x:{account.id}\"\n    backend: main\n"),
                 "10:14 ");
              is("prefix: p\n" + start, "1:9 ");
              is(memory + money, "1:1 1:1 ");
              is("backends:\n  main: \"memory:other\"\n" + start.substr(memory.size()), "2:9 ");
              is(start + "  Till::withdraw:\n    type: WRITE\n", "10:3 ");
              is(start + "defaults:\n  type: FAIR\n", "11:9 ");
              const till::Seen seen = Till().deposit(account);
              CHILD_EXPECT(findings, seen.type == LockType::WRITE && seen.key == "x:7");
              is(start, "");
            }),
            "");
}

TEST(Reload, NeedsAFile) {
  EXPECT_EQ(in_child([](Findings& findings) {
              try {
                reload_policies();
                findings.expect(false, "it throws");
              } catch (const NotConfigured& error) {
                CHILD_EXPECT(findings,
                             std::string(error.what()).find("install_from") != std::string::npos);
              }
            }),
            "");
}

}  // namespace
}  // namespace latchkey::tests
