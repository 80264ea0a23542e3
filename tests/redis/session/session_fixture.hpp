// A fixture with a Session. The test reads the session's commands and composes the server's
// replies.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "command_parser.hpp"
#include "redis/protocol/names.hpp"
#include "redis/session/session.hpp"

namespace latchkey::inline v1::detail::redis {

using namespace std::chrono_literals;
using testing::Command;
using Kind = Outcome::Kind;

/// The client id that CLIENT KILL names while there is no lost connection to kill.
inline constexpr const char* no_client = "9223372036854775807";

/// Records outcomes and notifications.
class RecordingSink final : public Sink {
 public:
  struct RecordedOutcome {
    const Request* request;
    Kind kind;
    std::string text;
    bool never_ran;
  };
  struct RecordedNotification {
    Notification::Kind kind;
    std::string key;
    HoldId id;
  };

  void completed(Request& request, Outcome&& outcome) noexcept override {
    outcomes.push_back(
        {&request, outcome.kind, outcome.reason + outcome.holder, outcome.never_ran});
  }
  void notified(const Notification& notification) noexcept override {
    notifications.push_back({notification.kind, std::string(notification.key), notification.id});
  }

  std::vector<RecordedOutcome> outcomes;
  std::vector<RecordedNotification> notifications;
};

class SessionTest : public ::testing::Test {
 protected:
  static constexpr auto timeout = 2000ms;

  explicit SessionTest(
      Handshake::Login login = {.user = "", .password = "", .client_name = "tester", .database = 0})
      : SessionTest(Session::Settings{
            .login = std::move(login), .timeout = timeout, .calls = {}, .seed = 7}) {}
  explicit SessionTest(Session::Settings settings) : session(std::move(settings)) {}

  /// The settings of a session whose grants `least` replicas must confirm.
  static Session::Settings with_replicas(int least) {
    return {.login = {.user = "",
                      .password = "",
                      .client_name = "tester",
                      .database = 0,
                      .replicas = true},
            .timeout = timeout,
            .calls = {},
            .seed = 7,
            .min_replicas = least};
  }
  /// The server has so many replicas, and has answered the first WAIT.
  void connect_with_replicas(int count) {
    connect();
    sent();
    say(testing::hello_answer(11, "run") + ":" + std::to_string(count) + "\r\n");
    sent();
    say(":0\r\n:0\r\n");
  }

  Request& request(Verb verb, std::string_view key, std::uint64_t number = 1,
                   LockType type = LockType::REENTRANT) {
    Request& made = requests.emplace_back();
    made.verb = verb;
    made.key = key;
    made.type = type;
    made.id = {{1, 2}, number};
    made.lease = 30s;
    made.sent = now;
    return made;
  }
  Request& submit(Verb verb, std::string_view key, std::uint64_t number = 1,
                  LockType type = LockType::REENTRANT) {
    Request& made = request(verb, key, number, type);
    Request* const one[] = {&made};
    session.submit(one, sink, now);
    return made;
  }

  /// Takes all bytes that the session wants to send and returns their commands.
  std::vector<Command> sent() {
    while (session.anything_to_send()) {
      const std::string_view bytes = session.to_send();
      parser.feed(bytes);
      session.sent(bytes.size());
    }
    EXPECT_FALSE(parser.malformed());
    return parser.all();
  }
  /// The names of the commands that are sent. EVALSHA and EVAL are followed by the key.
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const Command& command : sent()) {
      const bool script = command[0].starts_with("EVAL") && command.size() > 3;
      all.push_back(script ? command[0] + " " + command[3] : command[0]);
    }
    return all;
  }

  void say(std::string_view bytes) {
    session.received(bytes, now);
    drain();
  }
  void drain() {
    Delivery delivery;
    while (session.next(delivery)) {
      if (delivery.type == Delivery::Type::sink_event) delivery.hand_over();
    }
  }
  void pass(Clock::duration time) {
    now += time;
    session.tick(now);
    drain();
  }
  void lose(std::string text = "lost") {
    session.failed(Failure{false, std::move(text)}, now);
    parser = {};
    drain();
  }

  void connect() {
    ASSERT_TRUE(session.wants_connection(now));
    session.connecting(now);
    session.connected();
  }
  void connect_after_pause() {
    now = std::max(now, session.due());
    connect();
  }
  void settle(int client_number = 11, std::string_view run = "run", bool subscribes = false) {
    sent();
    say(testing::hello_answer(client_number, run));
    for (const Command& command : sent()) {
      // HDEL is sent on the first connection only.
      if (command[0] == "CLIENT" || command[0] == "HDEL") say(":0\r\n");
    }
    if (subscribes) say("+PONG\r\n");
    ASSERT_EQ(session.stage(), Session::Stage::up);
  }
  void bring_up() {
    connect();
    settle();
  }

  Clock::time_point now{1'000s};
  RecordingSink sink;
  std::deque<Request> requests;
  testing::CommandParser parser;
  Session session;
};

}  // namespace latchkey::inline v1::detail::redis
