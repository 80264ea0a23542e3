// `latchkey check` and `latchkey explain` compare a policy file with the methods of a program.
#include <latchkey/decorate.hpp>
#include <latchkey/detail/reflect.hpp>
#include <latchkey/install.hpp>
#include <latchkey/locked.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>

#include "cli/run_fixture.hpp"

namespace shop {

using latchkey::LockType;

struct Address {
  std::string city;
};
struct Account {
  int id = 0;
  Address home{};
};

LATCHKEY_FIELDS(Address, city);
LATCHKEY_FIELDS(Account, id, home);

// A method that the policy file names. It is never called.
class Bank {
 public:
  std::optional<int> find(const Account& account) {
    return LOCKED("account:{account.id}", LockType::READ) AROUND(account) {
      return std::optional<int>(account.id);
    };
  }
  int deposit(const Account& account) {
    return LOCKED_BY("money") AROUND(account) { return account.id; };
  }
  std::optional<int> peek(const Account& account) {
    return LOCKED("peek:{account.id}", LockType::FAIR, std::chrono::milliseconds{5})
        .on_unavailable(latchkey::strategy::skip) AROUND(account) {
      return std::optional<int>(account.id);
    };
  }
  void report() { LOCKED_ONCE_PER("report", std::chrono::minutes(15)) AROUND(){}; }
};

}  // namespace shop

namespace latchkey::tests {
namespace {

class CliPolicy : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream sites(folder_.file("sites.json"));
    dump_sites(sites);
  }
  void write(const std::string& text) const {
    std::ofstream(folder_.file("latchkey.yaml")) << text;
  }

  int run(std::vector<std::string> words) const {
    std::filesystem::remove(folder_.file("log"));
    words.insert(words.begin() + 1, folder_.file("latchkey.yaml"));
    return Process(latchkey(std::move(words)), folder_.file("log")).wait();
  }
  [[nodiscard]] std::vector<std::string> with_sites(std::vector<std::string> words) const {
    words.insert(words.end(), {"--sites", folder_.file("sites.json")});
    return words;
  }
  [[nodiscard]] std::string log() const { return folder_.read("log"); }

  TemporaryFolder folder_;
};

constexpr const char* good = R"(backends:
  main: "memory:"
defaults:
  wait: 1s
policies:
  money:
    key: "account:{account.home.city}"
    type: WRITE
rules:
  Bank::*:
    lease: 10s
  Bank::find:
    on_timeout: skip
)";

TEST_F(CliPolicy, CheckPrintsNothingForAValidFile) {
  write(good);
  EXPECT_EQ(run({"check"}), 0) << log();
  EXPECT_EQ(run(with_sites({"check"})), 0) << log();
  EXPECT_EQ(log(), "");
}

TEST_F(CliPolicy, CheckPrintsEveryErrorWithLineAndColumn) {
  write("backends:\n  main: \"memory:\"\ndefaults:\n  wiat: 1s\n  lease: 3\n");
  EXPECT_EQ(run({"check"}), 1);
  EXPECT_NE(log().find("latchkey.yaml:4:3: "), std::string::npos) << log();
  EXPECT_NE(log().find("'wiat'"), std::string::npos) << log();
  EXPECT_NE(log().find("latchkey.yaml:5:10: "), std::string::npos) << log();
  EXPECT_EQ(run({"check", "--json"}), 1);
  const auto line = nlohmann::json::parse(log().substr(0, log().find('\n')));
  EXPECT_EQ(line["line"], 4);
  EXPECT_EQ(line["column"], 3);
}

TEST_F(CliPolicy, CheckComparesRulesAndKeysWithAnotherProgram) {
  write(R"(backends:
  main: "memory:"
policies:
  money:
    key: "account:{account.home.town}"
rules:
  Bank::fnd:
    wait: 1s
  Bank::deposit:
    on_timeout: skip
)");
  EXPECT_EQ(run(with_sites({"check"})), 1);
  EXPECT_NE(log().find("'Bank::fnd'"), std::string::npos) << log();  // no method has this name
  EXPECT_NE(log().find("town"), std::string::npos) << log();         // a field that is not there
  EXPECT_NE(log().find("city"), std::string::npos) << log();         // the one that is
  EXPECT_NE(log().find("which returns int"), std::string::npos) << log();
  EXPECT_EQ(run({"check"}), 0) << log();  // the file alone shows none of it
}

TEST_F(CliPolicy, CheckListsAnnotatedFunctionsWithoutTheirLock) {
  write(good);
  nlohmann::json sites = nlohmann::json::parse(folder_.read("sites.json"));
  EXPECT_FALSE(sites.contains("unbound"));
  sites["unbound"] = {"Bank::pay (bank.cpp:12)"};
  std::ofstream(folder_.file("sites.json")) << sites;
  EXPECT_EQ(run(with_sites({"check"})), 1);
  EXPECT_NE(log().find("Bank::pay (bank.cpp:12) has an annotation and runs without its lock"),
            std::string::npos)
      << log();
}

TEST_F(CliPolicy, CheckRejectsAnInvalidFileOfSites) {
  write(good);
  std::ofstream(folder_.file("sites.json")) << "{}";
  EXPECT_EQ(run(with_sites({"check"})), 64);
  EXPECT_NE(log().find("was not written by latchkey::dump_sites"), std::string::npos) << log();
}

// A pointer to itself was followed without an end, one to nothing ended the tool.
TEST_F(CliPolicy, CheckRejectsTypesThatLeadNowhere) {
  write("backends:\n  main: \"memory:\"\n");
  for (const char* target : {",\"target\":0", "", ",\"target\":7"}) {
    std::ofstream(folder_.file("sites.json"))
        << R"({"format":1,"schemes":["memory"],"locks":[{"name":"Bank::find",)"
        << R"("method":"Bank::find",)"
        << R"("where":"bank.cpp:1","file":"bank.cpp","line":1,"result":"int","key":"a:{account}",)"
        << R"("alone":true,"can_be_skipped":true,"never_throws":false,"says_timeout":false,)"
        << R"("says_unavailable":false,"for_scope":false,)"
        << R"("arguments":[{"name":"account","type":0}]}],)"
        << R"("types":[{"name":"P","shape":6,"text_from":0,"integer_keys":false,"text_keys":false,)"
        << R"("declared":false,"fields":[])" << target << "}]}";
    EXPECT_EQ(run(with_sites({"check"})), 64) << target;
    EXPECT_NE(log().find("was not written by latchkey::dump_sites"), std::string::npos) << log();
  }
}

TEST_F(CliPolicy, ExplainNamesTheRuleOfEachSetting) {
  write(good);
  EXPECT_EQ(run(with_sites({"explain", "Bank::deposit"})), 0) << log();
  EXPECT_NE(log().find("LOCKED_BY(\"money\")"), std::string::npos) << log();
  EXPECT_NE(log().find("lease: 10s"), std::string::npos) << log();
  EXPECT_NE(log().find("rule 'Bank::*', line 11"), std::string::npos) << log();
  EXPECT_NE(log().find("policy 'money', line 8"), std::string::npos) << log();
  EXPECT_NE(log().find("defaults, line 4\n"), std::string::npos) << log();
  EXPECT_EQ(log().find("skip"), std::string::npos) << log();
  EXPECT_EQ(run(with_sites({"explain", "Bank::find", "--json"})), 0) << log();
  EXPECT_EQ(nlohmann::json::parse(log())["settings"][2]["value"], "skip") << log();
  EXPECT_EQ(run(with_sites({"explain", "Bank::none"})), 64);
}

// The dump did not have it, so nobody could tell whether a default applies.
TEST_F(CliPolicy, ExplainSaysWhatTheCodeSays) {
  write(good);
  EXPECT_EQ(run(with_sites({"explain", "Bank::peek"})), 0) << log();
  const std::string text = log();
  const auto has = [&](const char* words) { return text.find(words) != std::string::npos; };
  EXPECT_TRUE(has("LOCKED(\"peek:{account.id}\", LockType::FAIR, std::chrono::milliseconds{5})"))
      << text;
  EXPECT_TRUE(has("  type: LockType::FAIR              the code\n")) << text;
  EXPECT_TRUE(has("  wait: std::chrono::milliseconds{5}  the code\n")) << text;
  EXPECT_TRUE(has("  lease: 10s                        rule 'Bank::*', line 11\n")) << text;
  EXPECT_TRUE(has("  on_unavailable: skip              the code\n")) << text;
  EXPECT_FALSE(has("defaults")) << text;
}

// The dump has no values of these options.
TEST_F(CliPolicy, ExplainSaysThatTheCodeMayChangeADefault) {
  std::string file(good);
  const std::string before = "defaults:\n";
  file.replace(file.find(before), before.size(), before + "  cache: 100ms\n  lock_delay: 5s\n");
  write(file);
  EXPECT_EQ(run(with_sites({"explain", "Bank::deposit"})), 0) << log();
  const auto has = [&](const std::string& words) {
    const std::string line = words + "  defaults, line ";
    const std::size_t at = log().find(line);
    return at != std::string::npos && log()
                                          .substr(at, log().find('\n', at) - at)
                                          .ends_with(", unless the code says otherwise");
  };
  EXPECT_TRUE(has("  cache: 100ms                    ")) << log();
  EXPECT_TRUE(has("  lock_delay: 5s                  ")) << log();
  file.replace(file.find("100ms"), 5, "adaptive");
  write(file);
  EXPECT_EQ(run(with_sites({"explain", "Bank::deposit"})), 0) << log();
  EXPECT_TRUE(has("  cache: adaptive                 ")) << log();
}

TEST_F(CliPolicy, ExplainKnowsALockedOncePer) {
  write(good + std::string("  Bank::report:\n    backend: main\n"));
  EXPECT_EQ(run(with_sites({"explain", "Bank::report"})), 0) << log();
  EXPECT_NE(log().find("LOCKED_ONCE_PER(\"report\", std::chrono::minutes(15))"), std::string::npos)
      << log();
  EXPECT_NE(log().find("  backend: main                     rule 'Bank::report', line 15\n"),
            std::string::npos)
      << log();
}

constexpr std::array commands{"run",    "once", "ls",    "show",   "top",
                              "unlock", "ping", "check", "explain"};

TEST_F(CliPolicy, ManualPageNamesEveryCommandAndItsOptions) {
  EXPECT_EQ(Process(latchkey({"man"}), folder_.file("log")).wait(), 0);
  for (const char* command : commands) {
    EXPECT_NE(log().find(std::string(".SS latchkey ") + command), std::string::npos) << command;
  }
  EXPECT_NE(log().find(".TP\n\\fB\\-k,\\-\\-key\\fR KEY"), std::string::npos) << log();
}

TEST_F(CliPolicy, CompletionsOfBashNameEveryCommandAndItsOptions) {
  const auto complete = [&](const std::string& words) {
    std::filesystem::remove(folder_.file("log"));
    const std::string script =
        "tool=" LATCHKEY_TOOL "; eval \"$($tool completion bash)\"; COMP_WORDS=($tool " + words +
        "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _latchkey $tool; "
        "echo \" ${COMPREPLY[*]} \"";
    EXPECT_EQ(Process({"/bin/bash", "-c", script}, folder_.file("log")).wait(), 0) << log();
    return log();
  };
  const std::string first = complete("''");
  for (const char* command : commands) {
    EXPECT_NE(first.find(" " + std::string(command) + " "), std::string::npos) << first;
  }
  EXPECT_EQ(complete("run --ke"), " --key \n");
  EXPECT_EQ(complete("run -- tru"), complete("once -k x -- tru"));
}

TEST_F(CliPolicy, CompletionsOfOtherShellsReadTheHelp) {
  for (const char* shell : {"zsh", "fish"}) {
    std::filesystem::remove(folder_.file("log"));
    EXPECT_EQ(Process(latchkey({"completion", shell}), folder_.file("log")).wait(), 0);
    EXPECT_NE(log().find("--help"), std::string::npos) << log();
  }
}

}  // namespace
}  // namespace latchkey::tests
