// Requests that wait for a connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "session_fixture.hpp"

namespace latchkey::detail::redis {
namespace {

/// The replies to HELLO 3 and INFO of a server that forbids INFO.
std::string hello_without_info() {
  const std::string hello = testing::hello_answer(11, "run");
  return hello.substr(0, hello.find('=')) + "-NOPERM this user has no permissions\r\n";
}

class SessionWaitingTest : public SessionTest {
 protected:
  void refuse_connection() {
    Failure failure{false, "connect: Connection refused"};
    failure.nothing_listens = true;
    session.failed(failure, now);
    drain();
  }
  /// Connects to a server that forbids INFO. Returns the commands that follow its handshake.
  auto connect_without_info() {
    connect_after_pause();
    sent();
    say(hello_without_info());
    return sent();
  }
};

TEST_F(SessionWaitingTest, AnAcquireEndsAtOnceIfNothingListensAndAReleaseWaits) {
  bring_up();
  lose();
  connect_after_pause();
  Request& question = submit(Verb::acquire, "k", 1);
  Request& release = submit(Verb::release, "k", 2);
  EXPECT_TRUE(sink.outcomes.empty()) << "an attempt is under way";
  refuse_connection();
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].request, &question);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::unknown);
  EXPECT_EQ(sink.outcomes[0].text, "connect: Connection refused");
  EXPECT_TRUE(sink.outcomes[0].never_ran);
  submit(Verb::acquire, "k", 3);
  drain();
  EXPECT_EQ(sink.outcomes.size(), 2U) << "before the next attempt the answer is known";
  connect_after_pause();
  settle();
  EXPECT_EQ(names().back(), "EVALSHA k");
  pass(timeout);
  ASSERT_EQ(sink.outcomes.size(), 3U);
  EXPECT_EQ(sink.outcomes[2].request, &release);
  EXPECT_FALSE(sink.outcomes[2].never_ran) << "it was sent";
}

TEST_F(SessionWaitingTest, AnAcquireWaitsAQuarterOfASecondDuringAnOutage) {
  bring_up();
  lose();
  submit(Verb::acquire, "k", 1);
  submit(Verb::renew, "k", 2);
  pass(249ms);
  EXPECT_TRUE(sink.outcomes.empty());
  EXPECT_LE(session.due(), now + 1ms);
  pass(1ms);
  ASSERT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(sink.outcomes[0].text, "lost");
  EXPECT_TRUE(sink.outcomes[0].never_ran);
  pass(timeout);
  EXPECT_EQ(sink.outcomes.size(), 2U);
}

TEST_F(SessionWaitingTest, AnAcquireWaitsItsWholeTimeoutForTheFirstConnection) {
  connect();
  submit(Verb::acquire, "k", 1);
  pass(timeout - 1ms);
  EXPECT_TRUE(sink.outcomes.empty());
}

TEST_F(SessionWaitingTest, APermanentFailureIsOneWarningAndRefusesAcquires) {
  bring_up();
  for (int attempt = 0; attempt < 3; ++attempt) {
    session.failed(Failure{true, "user or password is wrong"}, now);
    parser = {};
    submit(Verb::acquire, "k");
    drain();
    connect_after_pause();
  }
  EXPECT_EQ(std::ranges::count(sink.notifications, Notification::Kind::warning,
                               &RecordingSink::RecordedNotification::kind),
            0)
      << "there was no sink before the first failure";
  ASSERT_EQ(sink.outcomes.size(), 3U);
  EXPECT_EQ(sink.outcomes[0].kind, Kind::refused);
  session.failed(Failure{true, "the server asks for a password"}, now);
  drain();
  EXPECT_EQ(std::ranges::count(sink.notifications, Notification::Kind::warning,
                               &RecordingSink::RecordedNotification::kind),
            1);
}

// If INFO is forbidden, the server may have restarted since it assigned the client id.
TEST_F(SessionWaitingTest, WithoutARunIdNoConnectionIsKilled) {
  for (int connection = 0; connection < 2; ++connection) {
    const auto flight = connect_without_info();
    ASSERT_FALSE(flight.empty());
    EXPECT_EQ(flight[0], (testing::Command{"CLIENT", "KILL", "ID", no_client}));
    for (std::size_t answer = 0; answer < flight.size(); ++answer) say(":0\r\n");
    ASSERT_EQ(session.stage(), Session::Stage::up);
    EXPECT_FALSE(session.may_kill()) << "so releases are repeated";
    lose();
  }
}

// The attempt fails, because coordinators already rely on CLIENT KILL to keep requests in order.
TEST_F(SessionWaitingTest, ARunIdThatIsForbiddenLaterIsAFailure) {
  bring_up();
  ASSERT_TRUE(session.may_kill());
  lose();
  const auto flight = connect_without_info();
  ASSERT_FALSE(flight.empty());
  EXPECT_EQ(flight[0], (testing::Command{"CLIENT", "KILL", "ID", no_client}));
  say(":0\r\n");
  ASSERT_TRUE(session.trouble());
  EXPECT_THAT(session.trouble()->text,
              ::testing::HasSubstr("no longer returns the server's run_id"));
}

// A script that runs for long lets HELLO pass, and no other command of the handshake.
TEST_F(SessionWaitingTest, AConnectionToABusyServerIsTriedAgain) {
  bring_up();
  ASSERT_TRUE(session.may_kill());
  lose();
  connect_after_pause();
  sent();
  const std::string hello = testing::hello_answer(11, "run");
  say(hello.substr(0, hello.find('=')) + "-BUSY Redis is busy running a script.\r\n");
  ASSERT_TRUE(session.trouble());
  EXPECT_FALSE(session.trouble()->permanent);
  EXPECT_THAT(session.trouble()->text, ::testing::HasSubstr("the server is not ready: BUSY"));
  session.failed(*session.trouble(), now);
  connect_after_pause();
  settle();
  EXPECT_TRUE(session.may_kill());
}

}  // namespace
}  // namespace latchkey::detail::redis
