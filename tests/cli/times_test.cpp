// Tests that the command line, policy files and URIs, also that of the environment, spell a time in
// one way: a whole number and ms, s, m, h or d.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "cli/run_fixture.hpp"
#include "policy/settings.hpp"

namespace latchkey::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// One place where a time is written.
struct Place {
  std::vector<std::string> words;  ///< of the tool; `@` stands for the time
  std::string right = "1min";      ///< the longest spelling, within the limits of this place
};

/// All times of the command line.
const std::vector<Place> of_commands{
    {{"run", "--wait", "@"}},
    {{"run", "--lease", "@"}},
    {{"run", "--hold-for", "@"}, "1ms"},
    {{"run", "--held-at-most", "@"}},
    {{"run", "--lock-delay", "@"}},
    {{"run", "--watchdog", "@"}},
    {{"run", "--kill-after", "@"}, "1000ms"},
    {{"once", "--wait", "@"}},
    {{"once", "--watchdog", "@"}},
    {{"once", "--kill-after", "@"}, "1000ms"},
    {{"once", "--every", "@"}},
    {{"once", "--offset", "@"}, "1000ms"},
    {{"once", "--start-within", "@"}},
    {{"once", "--clock-error", "@"}, "1000ms"},
    {{"top", "--interval", "@"}, "500ms"},
};

/// All times of URIs, at a port where nobody listens.
const std::vector<Place> of_uris{
    {{"etcd://127.0.0.1:1/?session=@"}},
    {{"mysql://127.0.0.1:1/app?poll=@"}, "1000ms"},
    {{"zookeeper://127.0.0.1:1/?session=@"}},
};

/// Texts that no place takes for a time.
const std::vector<std::string> wrong{"5", "5 s", "1.5s", "5sec"};

bool is_time(const detail::PolicySetting& setting) {
  using detail::SettingMember;
  return std::holds_alternative<SettingMember<Wait>>(setting.member) ||
         std::holds_alternative<SettingMember<Lease>>(setting.member) ||
         std::holds_alternative<SettingMember<std::chrono::milliseconds>>(setting.member);
}

std::string with_time(const std::string& word, const std::string& time) {
  return std::regex_replace(word, std::regex("@"), time);
}

class CliTimes : public ::testing::Test {
 protected:
  struct Result {
    int status;
    std::string text;
  };
  [[nodiscard]] Result run(const std::vector<std::string>& words) const {
    std::filesystem::remove(folder_.file("log"));
    const int status = Process(words, folder_.file("log")).wait();
    return {status, folder_.read("log")};
  }
  [[nodiscard]] Result run_command(const Place& place, const std::string& time) const {
    std::vector<std::string> words;
    for (const std::string& word : place.words) words.push_back(with_time(word, time));
    const bool has_command = words.front() != "top";
    if (!has_command) words.emplace_back("--once");
    if (has_command) words.insert(words.end(), {"--key", "k"});
    if (words.front() == "once" && words[1] != "--every") {
      words.insert(words.end(), {"--every", "1h"});
    }
    words.emplace_back("memory:");
    if (has_command) words.insert(words.end(), {"--", "true"});
    return run(latchkey(words));
  }
  TemporaryFolder folder_;
};

TEST_F(CliTimes, OfCommandsAreSpelledAlike) {
  for (const Place& place : of_commands) {
    SCOPED_TRACE(place.words.front() + ' ' + place.words[1]);
    for (const std::string& time : wrong) {
      const Result result = run_command(place, time);
      EXPECT_EQ(result.status, 64) << time;
      EXPECT_THAT(result.text, HasSubstr(place.words[1] + ": "));
      EXPECT_THAT(result.text, HasSubstr('\'' + time + '\''));
    }
    const Result result = run_command(place, place.right);
    EXPECT_NE(result.status, 64) << result.text;
  }
}

// A new option of which this test does not know fails here.
TEST_F(CliTimes, OfCommandsAreAllTested) {
  std::set<std::string> tested, offered;
  for (const Place& place : of_commands) {
    tested.insert(place.words.front() + ' ' + place.words[1]);
  }
  const auto all = [](const std::string& text, const std::regex& what) {
    std::vector<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), what), end; at != end; ++at) {
      found.push_back((*at)[1]);
    }
    return found;
  };
  const std::string help = run(latchkey({"--help"})).text;
  const std::string commands = help.substr(help.find("Subcommands:"));
  for (const std::string& command : all(commands, std::regex("\n  ([a-z]+)  "))) {
    const std::string its_help = run(latchkey({command, "--help"})).text;
    for (const std::string& option : all(its_help, std::regex("(--[a-z-]+)[^ \n]* TIME"))) {
      offered.insert(command + ' ' + option);
    }
  }
  EXPECT_EQ(offered, tested);
}

TEST_F(CliTimes, OfPolicyFilesAreSpelledAlike) {
  for (const detail::PolicySetting& setting : detail::policy_settings) {
    if (!is_time(setting)) continue;
    const auto check = [&](const std::string& time) {
      std::ofstream(folder_.file("latchkey.yaml"))
          << "backends: {main: \"memory:\"}\ndefaults:\n  " << setting.name << ": " << time << '\n';
      return run(latchkey({"check", folder_.file("latchkey.yaml")}));
    };
    for (const std::string& time : wrong) {
      const Result result = check(time);
      EXPECT_EQ(result.status, 1) << setting.name << ": " << time;
      EXPECT_THAT(result.text, HasSubstr('\'' + time + '\''));
    }
    const Result result = check(setting.name == "cache" ? "5s" : "1min");  // at most 10 s
    EXPECT_EQ(result.status, 0) << setting.name << ": " << result.text;
  }
}

TEST_F(CliTimes, OfUrisAreSpelledAlike) {
  for (const Place& place : of_uris) {
    const auto ping = [&](std::string time) {
      const std::string uri =
          with_time(place.words.front(), std::regex_replace(time, std::regex(" "), "%20"));
      const Result result = run(latchkey({"ping", uri}));
      const Result of_environment =
          run({"/usr/bin/env", "LATCHKEY_URI=" + uri, LATCHKEY_TOOL, "ping"});
      EXPECT_EQ(result.text, of_environment.text);
      return result;
    };
    if (ping("5").text.find("was built without the store of") != std::string::npos) continue;
    SCOPED_TRACE(place.words.front());
    for (const std::string& time : wrong) {
      const Result result = ping(time);
      EXPECT_EQ(result.status, 64) << time;
      EXPECT_THAT(result.text, HasSubstr("invalid value '" + time + "' of the option"));
    }
    const Result result = ping(place.right);
    EXPECT_NE(result.status, 64) << result.text;
    EXPECT_THAT(result.text, Not(HasSubstr("invalid value")));
  }
}

// A new option of a URI of which this test does not know fails here.
TEST_F(CliTimes, OfUrisAreAllTested) {
  const std::string here = __FILE__;
  const std::filesystem::path source = here.substr(0, here.rfind("/tests/")) + "/src";
  std::size_t times = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source)) {
    if (!entry.path().filename().string().ends_with("uri.cpp")) continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::size_t at = 0; (at = text.find("value.duration(", at)) != std::string::npos; ++at) {
      ++times;
    }
  }
  EXPECT_EQ(times, of_uris.size());
}

}  // namespace
}  // namespace latchkey::tests
