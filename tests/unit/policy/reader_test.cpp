// Reads latchkey.yaml: durations, words, secrets, and the pitfalls of YAML.
#include "policy/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/text/duration.hpp"
#include "core/text/nearest.hpp"
#include "policy/secrets.hpp"

namespace latchkey::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

std::optional<std::string> environment(const std::string& name) {
  if (name == "PASSWORD") return "p@ss word";
  if (name == "URL") return "redis://h:1/?x=a b";
  if (name == "EMPTY") return "";
  return std::nullopt;
}

std::vector<std::string> errors_of(const std::string& text, PolicyFile* file = nullptr) {
  Problems problems;
  PolicyFile read = read_policies(text, environment, problems);
  if (file != nullptr) *file = read;
  std::vector<std::string> all;
  for (const Problem& problem : problems) {
    all.push_back(std::to_string(problem.at.line) + ":" + std::to_string(problem.at.column) + " " +
                  problem.sentence);
  }
  return all;
}

TEST(PolicyReader, SecretsAreEncodedWithinAUriAndNeverShown) {
  PolicyFile file;
  EXPECT_THAT(
      errors_of("backends: {a: \"redis://:${PASSWORD}@h\", b: \"${URL}\"}\nbackend: a\n", &file),
      IsEmpty());
  ASSERT_EQ(file.backends.size(), 2U);
  EXPECT_EQ(file.backends[0].uri.value, "redis://:p%40ss%20word@h");
  EXPECT_EQ(file.backends[1].uri.value, "redis://h:1/?x=a b");
  EXPECT_EQ(without_secrets("at redis://:p%40ss%20word@h (p@ss word)", file.backends[0].secrets),
            "at redis://:${PASSWORD}@h (${PASSWORD})");
}

TEST(PolicyReader, MissingSecretsAreErrors) {
  EXPECT_THAT(
      errors_of(
          "backends:\n  a: r://${NONE}\n  b: r://${EMPTY}\n  c: \"r://${OPEN\"\n  d: r://${a b}\n"
          "backend: a\n"),
      ElementsAre("2:6 '${NONE}' is not set: export NONE before the program starts",
                  HasSubstr("3:6 '${EMPTY}' is not set"), HasSubstr("4:6 '${' is never closed"),
                  HasSubstr("5:6 '${...}' takes the name of an environment variable")));
}

TEST(PolicyReader, EveryLineThatIsNotYamlIsReportedAndTheRestIsRead) {
  EXPECT_THAT(
      errors_of("rules:\n  a:\n    key: 'x' + #y\n    wait: \"3s\n    lease: 1x\n  *::b:\n"
                "    key: a: b\n    wait: {x}:{y}\n\t  lease: 3s\n    type: @x\n    hold_for: 9\n"),
      UnorderedElementsAre(
          HasSubstr("3:10 YAML ends this value at its second quote, before '+ #y'"),
          HasSubstr("4:11 the quote before this value is never closed"),
          HasSubstr("5:12 'lease': unknown unit 'x' in '1x'"),
          HasSubstr("6:3 a name that begins with * must be quoted: \"*...\""),
          HasSubstr("7:10 a colon before a blank begins a map in YAML: quote the value, \"a: b\""),
          HasSubstr("8:11 YAML reads what begins with { as a map: quote it, \"{x}:{y}\""),
          HasSubstr("9:1 YAML is indented by spaces, never by tabs"),
          HasSubstr("10:11 a value that begins with @ must be quoted"),
          HasSubstr("11:15 'hold_for': missing unit in '9'; expected 9s")));
}

TEST(PolicyReader, AByteThatIsNoTextIsReportedInItsPlace) {
  const std::string text("backend: a\nprefix: b\0\0\0 c: [\n", 29);
  EXPECT_THAT(errors_of(text), ElementsAre("2:10 not YAML: a byte 0; a policy file is text in "
                                           "UTF-8"));
}

// The messages about quotes, colons and brackets showed the rest of the line, and that about a name
// the name.
TEST(PolicyReader, NoMessageShowsAPartOfAUri) {
  for (const std::string value :
       {"rediss://app:pa: hunter2@redis.example:6379",
        "\"rediss://app:pa\"hunter2@redis.example:6379\"",
        "'rediss://app:don't-hunter2@redis.example:6379'", "[rediss://app:hunter2@redis.example]x",
        "{a: rediss://app:hunter2@redis.example}x", "\"rediss://app:hunter2@redis.example"}) {
    for (const std::string before : {"backends:\n  main: ", "backend: ", "rules:\n  a:\n    wait: ",
                                     "rules:\n  a:\n    key: 'x'\nbackends:\n  b:\n    "}) {
      for (const std::string& error : errors_of(before + value + "\n")) {
        EXPECT_THAT(error, Not(HasSubstr("hunter2"))) << before << value;
      }
    }
  }
  EXPECT_THAT(errors_of("backends: {a: \"memory:\"}\nbackend: redis://app:hunter2@h\n"),
              ElementsAre(HasSubstr("2:10 unknown backend 'redis:...'")));
}

// After each of them the whole file was parsed again: 60 kB took minutes.
TEST(PolicyReader, AFileWithThousandsOfLinesThatAreNotYamlIsGivenUp) {
  std::string text = "backends:\n  main: 'memory:'\nrules:\n";
  constexpr int rules = 2'000;
  for (int rule = 0; rule < rules; ++rule) {
    text += "  m" + std::to_string(rule) + ":\n    key: @x\n";
  }
  const std::vector<std::string> errors = errors_of(text);
  ASSERT_EQ(errors.size(), 21U);
  EXPECT_THAT(errors.front(), HasSubstr("5:10 a value that begins with @ must be quoted"));
  EXPECT_THAT(errors.back(), HasSubstr("from here on the file was not read"));
}

TEST(PolicyReader, NamesTheSectionsWhereAWordIsAllowed) {
  EXPECT_THAT(errors_of("defaults: {key: x, unlocked: dangerously, policy: y,\n"
                        "           on_timeout: run_unlocked_dangerously}\nrulse: {}\n"),
              UnorderedElementsAre(
                  "1:12 'key' is not allowed here; expected in policies and rules only",
                  "1:20 'unlocked' is not allowed here; expected in policies and rules only",
                  "1:43 'policy' is not allowed here; expected in rules only",
                  HasSubstr("2:24 'run_unlocked_dangerously' is not allowed in defaults; expected "
                            "at the methods concerned"),
                  "3:1 unknown section 'rulse'; did you mean 'rules'?"));
}

TEST(PolicyReader, NamesEmptyAndWronglyStructuredValues) {
  EXPECT_THAT(
      errors_of("rules:\n  a:\n  b: 3s\n  c:\n    wait:\n    key: []\n    type:\n      y: z\n"
                "prefix: a #b\n"),
      UnorderedElementsAre("2:3 'a': no settings; expected them indented below it",
                           "3:6 'b': no settings; expected them indented below it",
                           "5:5 'wait': empty; expected a value",
                           HasSubstr("6:10 'key': an empty list; expected a key"),
                           HasSubstr("8:7 'type': several lines; expected one text"),
                           HasSubstr("9:9 YAML ends 'a' before the #")));
}

// A rule could not name two keys, and the advice was to quote the list, which made one odd key.
TEST(PolicyReader, AKeyMayBeAListOfKeys) {
  PolicyFile file;
  EXPECT_THAT(errors_of("rules:\n  a: {key: [\"x:{from}\", \"x:{to}\"]}\n"
                        "  b:\n    key:\n      - y\n      - 'z'\n  c: {key: one}\n",
                        &file),
              IsEmpty());
  ASSERT_EQ(file.rules.size(), 3U);
  EXPECT_EQ(file.rules[0].settings.key->value.shown(), "x:{from}, x:{to}");
  EXPECT_EQ(file.rules[1].settings.key->value.shown(), "y, z");
  EXPECT_EQ(file.rules[2].settings.key->value.shown(), "one");
  EXPECT_THAT(errors_of("rules:\n  a: {key: [x, [y]]}\n  b: {key: [x, {y: z}]}\n"),
              UnorderedElementsAre(HasSubstr("2:16 YAML reads [...] after 'key' as a list"),
                                   HasSubstr("3:16 YAML reads {...} after 'key' as a map")));
}

TEST(PolicyReader, RejectsAliasesAndSecondDocuments) {
  EXPECT_THAT(errors_of("backends: &x {a: \"memory:\"}\npolicies: *x\n"),
              ElementsAre(HasSubstr("2:11 an alias (*name) is not supported here")));
  EXPECT_THAT(errors_of("backend: a\nbackends: {a: b}\n---\nx: y\n"),
              ElementsAre(HasSubstr(" a policy file is one YAML document")));
  EXPECT_THAT(errors_of("- a\n"),
              ElementsAre("1:1 not a policy file; expected backends, defaults, policies "
                          "and rules"));
}

TEST(PolicyReader, SeveralBackendsNeedADefault) {
  EXPECT_THAT(errors_of("backends: {a: \"memory:\", b: \"memory:\"}\n"),
              ElementsAre("1:12 several backends and no default; expected the one that "
                          "calls use, as in backend: a"));
}

TEST(PolicyReader, WaitsAndLeasesHaveTheirOwnValuesAndBounds) {
  EXPECT_THAT(
      errors_of(
          "rules: {a: {wait: watchdog, lease: forever}, b: {lease: 9ms, wait: 99999999999d}}\n"),
      UnorderedElementsAre(HasSubstr("'watchdog' is a lease; did you mean 'forever'?"),
                           HasSubstr("'forever' is a wait; did you mean 'watchdog'?"),
                           HasSubstr("is too short; expected at least 10ms"),
                           HasSubstr("is too long; expected at most ten years")));
}

TEST(PolicyReader, PermitsAreAWholeNumberOfAtLeastOne) {
  PolicyFile file;
  EXPECT_THAT(errors_of("rules:\n  a: {permits: 1}\n  b: {permits: 2147483647}\n", &file),
              IsEmpty());
  ASSERT_EQ(file.rules.size(), 2U);
  EXPECT_EQ(file.rules[1].settings.permits->value, 2'147'483'647U);
  constexpr auto cure = " is no number of permits; expected 1 to 2147483647";
  for (const std::string wrong :
       {"0", "-1", "+3", "2.5", "3 permits", "three", "2147483648", "99999999999", "0x3"}) {
    EXPECT_THAT(errors_of("rules:\n  a:\n    permits: " + wrong + "\n"),
                ElementsAre("3:14 'permits': '" + wrong + "'" + cure));
  }
}

TEST(PolicyReader, PermitsAreOneNumberAndNotOfADefaultOrALock) {
  EXPECT_THAT(
      errors_of("rules:\n  a:\n    permits:\n  b: {permits: [3]}\n  c:\n    permits:\n"
                "      total: 3\n  d: {pemits: 3}\n"),
      UnorderedElementsAre("3:5 'permits': empty; expected a value",
                           HasSubstr("4:16 YAML reads [...] after 'permits' as a list; expected "
                                     "one text"),
                           HasSubstr("7:7 'permits': several lines; expected one text"),
                           "8:7 unknown key 'pemits'; did you mean 'permits'?"));
  EXPECT_THAT(errors_of("defaults: {permits: 3}\n"),
              ElementsAre("1:12 'permits' is not allowed here; expected in policies and rules "
                          "only"));
  EXPECT_THAT(errors_of("policies:\n  exports: {type: FAIR, permits: 3}\n"),
              ElementsAre("2:34 'permits' makes the key a semaphore, and 'type' a lock; expected "
                          "one of the two"));
}

TEST(Nearest, CountsInsertionsRemovalsChangesAndSwaps) {
  EXPECT_EQ(edit_distance("wait", "wait"), 0U);
  EXPECT_EQ(edit_distance("wiat", "wait"), 1U);
  EXPECT_EQ(edit_distance("WAIT", "wait"), 0U);
  EXPECT_EQ(edit_distance("lese", "lease"), 1U);
  EXPECT_EQ(edit_distance("", "key"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Nearest, ShowsWordsWithoutControlBytesAndNotTooLong) {
  EXPECT_EQ(quoted_word("a\nb"), "'a?b'");
  EXPECT_EQ(quoted_word(std::string(100, 'x')), "'" + std::string(60, 'x') + "...'");
}

}  // namespace
}  // namespace latchkey::detail
