// A session that sends renewals and verifications together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redis/protocol/scripts.hpp"
#include "redis/session/check_batcher.hpp"
#include "session_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SessionChecks : public SessionTest {
 protected:
  explicit SessionChecks(Session::Settings settings) : SessionTest(std::move(settings)) {}
  SessionChecks() { bring_up(); }

  /// The keys of each command, behind its name.
  std::vector<std::string> calls() {
    std::vector<std::string> all;
    for (const Command& command : sent()) {
      std::string& call = all.emplace_back(command[0]);
      if (!command[0].starts_with("EVAL")) continue;
      const std::size_t keys = std::stoul(command[2]);
      for (std::size_t at = 3; at < 3 + keys; ++at) call += " " + command[at];
    }
    return all;
  }
  std::vector<Kind> kinds() const {
    std::vector<Kind> all;
    for (const auto& each : sink.outcomes) all.push_back(each.kind);
    return all;
  }
  std::vector<const Request*> answered() const {
    std::vector<const Request*> all;
    for (const auto& each : sink.outcomes) all.push_back(each.request);
    return all;
  }
};

TEST_F(SessionChecks, ThatAreSubmittedBeforeBytesAreSentAreOneCall) {
  submit(Verb::renew, "a", 1);
  submit(Verb::verify, "b", 2, LockType::FAIR);
  submit(Verb::renew, "c", 3, LockType::WRITE);
  EXPECT_TRUE(session.anything_to_send());
  EXPECT_THAT(calls(), ElementsAre("EVALSHA a b c"));
  EXPECT_FALSE(session.anything_to_send());
  say("*3\r\n:0\r\n_\r\n:0\r\n");
  EXPECT_THAT(kinds(), ElementsAre(Kind::granted, Kind::gone, Kind::granted));
  EXPECT_THAT(answered(), ElementsAre(&requests[0], &requests[1], &requests[2]));
  EXPECT_EQ(session.unanswered(), 0U);
}

TEST_F(SessionChecks, OneAloneHasItsOwnScript) {
  submit(Verb::renew, "a", 1);
  const std::vector<Command> commands = sent();
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0][1], scripts::renew.sha1);
}

TEST_F(SessionChecks, KeepTheOrderOfAllRequests) {
  submit(Verb::renew, "a", 1);
  submit(Verb::renew, "b", 2);
  submit(Verb::release, "a", 1);
  submit(Verb::verify, "c", 3);
  EXPECT_THAT(calls(), ElementsAre("EVALSHA a b", "EVALSHA a", "EVALSHA c"));
}

TEST_F(SessionChecks, NoCallHasMoreThanTheLimit) {
  const std::size_t most = CheckAnswers::most;
  for (std::size_t number = 1; number <= most + 1; ++number) submit(Verb::renew, "k", number);
  const std::vector<Command> commands = sent();
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(commands[0][2], std::to_string(most));
  EXPECT_EQ(commands[1][2], "1");
}

TEST_F(SessionChecks, UnclearOneIsSentByItselfAndHasItsOwnError) {
  submit(Verb::renew, "a", 1);
  submit(Verb::renew, "b", 2);
  submit(Verb::renew, "c", 3);
  sent();
  say("*3\r\n:0\r\n:1\r\n:0\r\n");
  EXPECT_THAT(kinds(), ElementsAre(Kind::granted, Kind::granted));
  submit(Verb::renew, "d", 4);
  EXPECT_THAT(calls(), ElementsAre("EVALSHA b", "EVALSHA d")) << "it is in no batch any more";
  say("-WRONGTYPE Operation against a key\r\n:0\r\n");
  EXPECT_THAT(kinds(), ElementsAre(Kind::granted, Kind::granted, Kind::gone, Kind::granted));
  EXPECT_THAT(sink.outcomes[2].text, HasSubstr("not a lock"));
}

TEST_F(SessionChecks, CallThatIsRejectedIsRepeatedOneByOne) {
  submit(Verb::renew, "a", 1);
  submit(Verb::verify, "b", 2);
  sent();
  say("-NOPERM this user has no permissions to access one of the keys used as arguments\r\n");
  EXPECT_THAT(kinds(), IsEmpty());
  EXPECT_THAT(calls(), ElementsAre("EVALSHA a", "EVALSHA b"));
  say("-NOPERM this user has no permissions to access one of the keys used as arguments\r\n:0\r\n");
  EXPECT_THAT(kinds(), ElementsAre(Kind::refused, Kind::granted));
}

TEST_F(SessionChecks, UnknownScriptIsSentAsText) {
  submit(Verb::renew, "a", 1);
  submit(Verb::renew, "b", 2);
  sent();
  say("-NOSCRIPT No matching script.\r\n");
  const std::vector<Command> commands = sent();
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_THAT(commands[0][0], "EVAL");
  EXPECT_EQ(commands[0][1], scripts::check_batch.text);
  say("*2\r\n_\r\n:0\r\n");
  EXPECT_THAT(kinds(), ElementsAre(Kind::gone, Kind::granted));
}

TEST_F(SessionChecks, AreSentOneByOneIfTheTextOfTheScriptIsForbidden) {
  submit(Verb::renew, "a", 1);
  submit(Verb::renew, "b", 2);
  sent();
  say("-NOSCRIPT No matching script.\r\n");
  sent();
  say("-NOPERM this user has no permissions to run the 'eval' command\r\n");
  EXPECT_THAT(calls(), ElementsAre("EVALSHA a", "EVALSHA b"));
  say(":0\r\n:0\r\n");
  EXPECT_THAT(kinds(), ElementsAre(Kind::granted, Kind::granted));
}

TEST_F(SessionChecks, OverdueOneEndsAndItsAnswerIsDropped) {
  submit(Verb::renew, "a", 1);
  now += 500ms;
  submit(Verb::renew, "b", 2);
  sent();
  pass(1'600ms);
  EXPECT_THAT(kinds(), ElementsAre(Kind::unknown));
  say("*2\r\n:0\r\n:0\r\n");
  EXPECT_THAT(kinds(), ElementsAre(Kind::unknown, Kind::granted));
  EXPECT_THAT(answered(), ElementsAre(&requests[0], &requests[1]));
  EXPECT_EQ(session.unanswered(), 0U);
}

TEST_F(SessionChecks, LostWithTheConnectionEndAsUnknown) {
  submit(Verb::renew, "a", 1);
  submit(Verb::renew, "b", 2);
  sent();
  submit(Verb::renew, "c", 3);
  submit(Verb::renew, "d", 4);
  lose();
  EXPECT_THAT(kinds(), ElementsAre(Kind::unknown, Kind::unknown)) << "the others were not sent";
  connect_after_pause();
  settle(12);
  say("*2\r\n:0\r\n:0\r\n");
  EXPECT_THAT(kinds(), ElementsAre(Kind::unknown, Kind::unknown, Kind::granted, Kind::granted));
}

TEST_F(SessionChecks, PartlySentAreSentAgain) {
  submit(Verb::renew, "a", 1);
  submit(Verb::renew, "b", 2);
  EXPECT_FALSE(session.to_send().empty());
  session.sent(10);
  lose();
  EXPECT_THAT(kinds(), IsEmpty());
  connect_after_pause();
  settle(12);
  say("*2\r\n:0\r\n:0\r\n");
  EXPECT_THAT(kinds(), ElementsAre(Kind::granted, Kind::granted));
}

TEST_F(SessionChecks, NotesAreExtendedAfterTheCall) {
  for (const std::uint64_t number : {1U, 2U, 3U}) {
    Request& made = request(Verb::renew, "a", number);
    if (number != 2) made.note = "somebody";
    Request* const one[] = {&made};
    session.submit(one, sink, now);
  }
  EXPECT_THAT(calls(), ElementsAre("EVALSHA a a a", "PEXPIRE", "PEXPIRE"));
  say("*3\r\n:0\r\n:0\r\n_\r\n:1\r\n-NOPERM no\r\n");
  EXPECT_THAT(kinds(), ElementsAre(Kind::granted, Kind::granted, Kind::gone));
  submit(Verb::acquire, "b", 9);
  sent();
  say(":0\r\n");
  EXPECT_EQ(sink.outcomes.back().kind, Kind::granted);
}

class SessionChecksWithReplicas : public SessionChecks {
 protected:
  SessionChecksWithReplicas() : SessionChecks(with_replicas(1)) { connect_with_replicas(1); }
};

TEST_F(SessionChecksWithReplicas, RenewalsAwaitTheReplicas) {
  submit(Verb::renew, "a", 1);
  submit(Verb::verify, "b", 2);
  submit(Verb::renew, "c", 3);
  EXPECT_THAT(calls(), ElementsAre("EVALSHA a b c", "WAIT"));
  say("*3\r\n:0\r\n:0\r\n_\r\n");
  EXPECT_THAT(kinds(), ElementsAre(Kind::granted, Kind::gone)) << "a renewal is not confirmed yet";
  EXPECT_THAT(answered(), ElementsAre(&requests[1], &requests[2]));
  say(":0\r\n");
  ASSERT_EQ(sink.outcomes.size(), 3U);
  EXPECT_EQ(sink.outcomes[2].request, &requests[0]);
  EXPECT_EQ(sink.outcomes[2].kind, Kind::unknown);
}

}  // namespace
}  // namespace latchkey::detail::redis
