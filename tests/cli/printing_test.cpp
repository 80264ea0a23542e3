// Keys, ids and notes are text of other clients: a terminal shows them and obeys nothing.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/run_fixture.hpp"

namespace latchkey::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Sets the title of a terminal, clears it, and makes a line that looks like another key.
constexpr const char* key = "order:\x1b]0;owned\a\x1b[2J\npayroll:run";
constexpr const char* spelled = R"(order:\x1b]0;owned\x07\x1b[2J\npayroll:run)";

class CliPrinting : public CliRun {
 protected:
  std::string printed(const std::vector<std::string>& words, int status = 0) const {
    std::filesystem::remove(folder_.file("log"));
    EXPECT_EQ(run(latchkey(words)), status) << log();
    return log();
  }
  void SetUp() override {
    CliRun::SetUp();
    holder_.emplace(*this, key, "reentrant");
  }

 private:
  std::optional<Holder> holder_;
};

TEST_F(CliPrinting, SpellsControlCharactersOfKeysInEveryCommand) {
  const auto spells =
      AllOf(HasSubstr(spelled), Not(HasSubstr("\x1b")), Not(HasSubstr("\npayroll")));
  EXPECT_THAT(printed({"ls", uri()}), spells);
  EXPECT_THAT(printed({"ls", "--long", uri()}), spells);
  EXPECT_THAT(printed({"show", key, uri()}), spells);
  EXPECT_THAT(printed({"run", "-k", key, "--wait", "0", uri(), "--", "true"}, 75), spells);
  EXPECT_THAT(
      printed({"unlock", key, "--owner", "6ad76760-e86c-8273-a5a4-ad3e58e61a2b:7", uri()}, 1),
      spells);
  EXPECT_THAT(printed({"top", "--once", uri()}), Not(HasSubstr("\x1b")));
}

TEST_F(CliPrinting, SpellsControlCharactersOfNotesAndQueues) {
  server().client()({"HSET", "b", "6ad76760-e86c-4273-a5a4-ad3e58e61a2b:1", "1"});
  server().client()(
      {"SET", "latchkey_holder:{b}:6ad76760-e86c-4273-a5a4-ad3e58e61a2b:1", "web\x1b[2J\nx"});
  EXPECT_THAT(printed({"show", "b", uri()}), HasSubstr(R"(web\x1b[2J\nx)"));
}

TEST_F(CliPrinting, JsonHasTheKeyAsItIs) {
  EXPECT_EQ(nlohmann::json::parse(printed({"show", key, "--json", uri()}))["key"], key);
}

// The lock was released, and the status said that a system call had failed.
TEST_F(CliPrinting, UnlockPrintsJsonForAKeyThatIsNotUtf8) {
  const std::string odd = "order:\xff";
  server().client()({"HSET", odd, "6ad76760-e86c-4273-a5a4-ad3e58e61a2b:1", "1"});
  const auto json = nlohmann::json::parse(printed({"unlock", odd, "--force", "--json", uri()}));
  EXPECT_EQ(json["released"], true);
  EXPECT_EQ(json["key"], "order:\xef\xbf\xbd");
}

}  // namespace
}  // namespace latchkey::tests
