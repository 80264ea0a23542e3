// Drives a Session with requests, connections, time and valid or arbitrary replies. Every request
// must end exactly once, all commands must be well-formed, and nothing may hang.
// tidy: long-file because the moves of a play and what they do stand together
//
// The first byte of the input selects the kind of server. Each further byte is a move, followed by
// the parameters of the move.
//
// Covers: src/redis/session/session.cpp src/redis/session/session_replies.cpp
// Covers: src/redis/session/session_connection.cpp src/redis/session/command_pipeline.cpp
// Covers: src/redis/session/replica_acknowledgement.cpp src/redis/session/delivery_queue.cpp
// Covers: src/redis/session/channel_subscriptions.cpp src/backend/connection/reconnect_policy.cpp
// Covers: src/redis/session/slots.cpp src/redis/protocol/reply_reader.cpp
// Covers: src/redis/session/idle_listeners.cpp
// Covers: src/redis/protocol/script_reply.cpp src/redis/protocol/reply.cpp
// Covers: src/redis/session/check_batcher.cpp src/redis/protocol/check_batch.cpp
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/moves.hpp"
#include "fuzz/session_requests.hpp"
#include "fuzz/session_servers.hpp"
#include "redis/session/command_parser.hpp"
#include "redis/session/session.hpp"

namespace {

using namespace std::chrono_literals;
using namespace latchkey::detail::redis;
using latchkey::Clock;
using latchkey::LockInfo;
using latchkey::LockType;
using latchkey::Notification;
using latchkey::Outcome;
using latchkey::Request;
using latchkey::Sink;
using latchkey::Verb;
using namespace latchkey::fuzz;
namespace testing = latchkey::testing;

/// Client, connection and server of one input.
class Play {
 public:
  Play(Moves& moves, Kind kind)
      : moves_(moves),
        kind_(kind),
        session_(settings_for(kind, timeout)),
        other_(settings_for(kind, timeout)) {}

  void move() {
    switch (moves_.below(16)) {
      case 0:
      case 1: submit(1 + moves_.below(3)); break;
      case 2: connect(); break;
      case 3: send(session_.to_send().size()); break;
      case 4: send(moves_.below(64)); break;
      case 5: answers_ += moves_.below(8) == 0 ? push() : next_answer(); break;
      case 6: receive(answers_.size()); break;
      case 7: receive(1 + moves_.below(40)); break;
      case 8: answers_ += moves_.bytes(1 + moves_.below(16)); break;
      case 9: spoil(); break;
      case 10: fail({moves_.below(2) == 0, "the play says so"}); break;
      case 11: pass(std::chrono::milliseconds(moves_.below(256) * 16)); break;
      case 12: take_elsewhere(); break;
      case 13: move_channels(); break;
      case 14:
        moves_.below(2) == 0 ? session_.retire() : session_.serves(moves_.below(2) == 0);
        break;
      case 15: session_.request_slots(now_); break;
      default: break;
    }
    settle();
  }

  /// Passes the time until every request must have ended.
  void end() {
    for (int steps = 0; steps < 8; ++steps) {
      pass(timeout);
      settle();
    }
    for (const Asked& each : asked_) require(each.ends == 1);
    require(!session_.has_news());
    fork();
  }

 private:
  static constexpr auto timeout = 2000ms;

  /// In a forked child requests in flight belong to the parent and get no outcome.
  void fork() {
    submit(3);
    connect();
    send(16);
    session_.forget();
    Delivery delivery;
    require(!session_.next(delivery) && session_.unanswered() == 0 && !session_.listens());
    require(session_.wants_connection(now_) && !session_.anything_to_send());
  }

  void submit(std::size_t count) {
    std::vector<Request*> requests;
    for (; count > 0; --count) requests.push_back(&ask());
    session_.submit(requests, sink_, now_);
  }

  Asked& ask() {
    static constexpr std::array verbs{
        Verb::acquire, Verb::release,       Verb::renew,       Verb::verify, Verb::downgrade,
        Verb::expire,  Verb::subscribe,     Verb::unsubscribe, Verb::leave,  Verb::list,
        Verb::inspect, Verb::force_release, Verb::revoke,      Verb::resize};
    static constexpr std::array<std::string_view, 4> keys{"a", "b", "{a}b", "a{b"};
    Asked& made = asked_.emplace_back();
    made.verb = verbs[moves_.below(verbs.size())];
    made.key = keys[moves_.below(keys.size())];
    made.type = static_cast<LockType>(moves_.below(6));
    made.watch = moves_.below(2) == 0;
    made.recall = made.verb == Verb::expire && made.watch;
    made.id = {{1, 2}, 1 + moves_.below(3)};
    made.lease = 30s;
    made.permits.taken = made.type == LockType::PERMIT ? 2 : made.permits.taken;
    if (made.verb == Verb::subscribe || made.verb == Verb::unsubscribe) choose_channel(made);
    made.sent = now_;
    made.info = &made.found;
    made.names = &made.listed;
    if (made.verb == Verb::list && moves_.below(2) == 0) {
      made.part = &made.page;
      made.page.awaited = moves_.below(2) == 0;
    }
    if (made.verb == Verb::acquire && made.id.number == 3) {
      made.verb = Verb::acquire_all;
      made.both = {{{made.key, made.type, made.id}, {"a", LockType::REENTRANT, {{1, 2}, 2}}}};
      made.members = made.both;
    }
    return made;
  }

  void choose_channel(Asked& made) {
    switch (moves_.below(4)) {
      case 0: made.queues = true; break;  // what is granted to the process
      case 1: made.latch = true; break;
      case 2: made.revocations = true; break;
      default: break;
    }
    if (moves_.below(2) == 0) made.id.number = 0;
  }

  void connect() {
    if (!session_.wants_connection(now_)) return;
    answers_.clear();
    parser_ = {};
    session_.connecting(now_);
    session_.connected();
  }

  void send(std::size_t most) {
    const std::string_view bytes = session_.to_send().substr(0, most);
    require(session_.unsent() >= bytes.size());
    parser_.feed(bytes);
    session_.sent(bytes.size());
    require(!parser_.malformed());
    for (auto& command : parser_.all()) heard_.push_back(std::move(command));
  }

  /// The reply to the oldest command without one.
  std::string next_answer() {
    if (heard_.empty()) return testing::message("redisson_lock__channel:{a}", "0");
    const testing::Command command = std::move(heard_.front());
    heard_.pop_front();
    if (command[0] == "HELLO") return testing::hello_answer(11, "run", "master", "", mode());
    if (command[0] == "INFO") return {};  // hello_answer includes its reply
    if (command[0] == "PING") return "+PONG\r\n";
    if (command[0] == "CLIENT") return moves_.below(4) == 0 ? "-NOPERM no\r\n" : ":0\r\n";
    if (command[0] == "SELECT" || command[0] == "ASKING") return "+OK\r\n";
    if (command[0] == "EXISTS") return moves_.below(4) == 0 ? "-NOPERM no\r\n" : ":1\r\n";
    if (command[0] == "CLUSTER") return std::string(slots_answer);
    if (command[0] == "PUBSUB") return "%0\r\n";
    if (command[0] == "WAIT") return moves_.below(3) == 0 ? ":0\r\n" : ":1\r\n";
    if (command[0].ends_with("SUBSCRIBE")) return channel_answer(command);
    if (is_batch(command) && moves_.below(4) != 0) return batch_answer(command);
    if (command.size() > 1 && moves_.below(2) == 0) {
      const auto* const own = std::ranges::find_if(own_answers, [&](const OwnAnswers& each) {
        return command[1] == each.script.sha1 || command[1] == each.script.text;
      });
      if (own != own_answers.end()) return std::string(own->answers[moves_.below(2)]);
    }
    return std::string(script_answers[moves_.below(script_answers.size())]);
  }

  /// Something that the server says unasked: a change of watched keys, or a message.
  std::string push() {
    static constexpr std::array<std::string_view, 4> messages{"0", "1", "7", "7:3:41"};
    switch (moves_.below(4)) {
      case 0: return ">2\r\n$10\r\ninvalidate\r\n_\r\n";
      case 1: return ">2\r\n$10\r\ninvalidate\r\n*2\r\n$1\r\na\r\n$4\r\n{a}b\r\n";
      default: break;
    }
    const std::string_view message = messages[moves_.below(messages.size())];
    if (channels_.empty()) return testing::message("redisson_lock__channel:{a}", message);
    return testing::message(channels_[moves_.below(channels_.size())], message);
  }

  static bool is_batch(const testing::Command& command) {
    return command.size() > 3 &&
           (command[1] == scripts::check_batch.sha1 || command[1] == scripts::check_batch.text);
  }
  /// An answer for each check, or one more or less.
  std::string batch_answer(const testing::Command& command) {
    static constexpr std::array<std::string_view, 5> answers{":0\r\n", ":0\r\n", "_\r\n", ":1\r\n",
                                                             "-ERR no\r\n"};
    const std::size_t checks = (command.size() - 3 - std::stoul(command[2])) / 3;
    require(checks > 1 && checks <= CheckAnswers::most);
    const std::size_t count = moves_.below(4) == 0 ? checks - 1 + moves_.below(3) : checks;
    std::string array = "*" + std::to_string(count) + "\r\n";
    for (std::size_t left = count; left > 0; --left) array += answers[moves_.below(answers.size())];
    return array;
  }

  [[nodiscard]] std::string_view mode() const {
    return kind_ == Kind::cluster || kind_ == Kind::sharded ? "cluster" : "standalone";
  }

  std::string channel_answer(const testing::Command& command) {
    switch (moves_.below(6)) {
      case 0: return "-NOPERM no channels\r\n";
      case 1: return "-MOVED 15495 127.0.0.1:7001\r\n";
      case 2: return testing::push("sunsubscribe", command[1], 0);  // the slot moves
      default: break;
    }
    if (channels_.size() < 16) channels_.push_back(command[1]);
    std::string kind = command[0];
    std::ranges::transform(kind, kind.begin(), [](char each) { return each | 0x20; });
    return testing::push(kind, command[1], 1);
  }

  /// Acts as ClusterRouter when slots move to another node and back.
  void take_elsewhere() {
    const std::string_view key = moves_.below(2) == 0 ? "a" : "{a}b";
    const auto moves = [&](const Request& each) { return each.key == key; };
    for (const QueuedRequest& each : session_.take_unsent(moves))
      session_.resubmit(each, false, now_);
  }
  void move_channels() {
    const auto slot = slot_of(moves_.below(2) == 0 ? "a" : "b");
    const auto to = [&](Session& session) {
      return
          [&, slot](std::string_view name) { return slot_of(name) == slot ? &session : nullptr; };
    };
    session_.move_channels(to(other_), now_);
    other_.move_channels(to(session_), now_);
    session_.inherit(other_);
  }

  void receive(std::size_t most) {
    if (session_.stage() != Session::Stage::handshake && session_.stage() != Session::Stage::up)
      return;
    const std::size_t count = std::min(most, answers_.size());
    session_.received(std::span(answers_).first(count), now_);
    answers_.erase(0, count);
  }

  void spoil() {
    if (answers_.empty()) return;
    answers_[moves_.below(answers_.size())] = static_cast<char>(moves_.below(256));
  }

  void fail(Failure failure) {
    answers_.clear();
    heard_.clear();
    parser_ = {};
    session_.failed(std::move(failure), now_);
  }

  void pass(Clock::duration time) {
    now_ += time;
    session_.tick(now_);
  }

  /// Does the work of the session's owner after each event.
  void settle() {
    deliver();
    if (session_.trouble()) {
      require(!session_.trouble()->text.empty());
      fail(*session_.trouble());
      deliver();
    }
    require(session_.stage() == Session::Stage::down || session_.due() > Clock::time_point{});
    require(!session_.is_silent(now_) || session_.unanswered() > 0);
    require(session_.backlog() == 0 || session_.is_working());
  }

  void deliver() {
    Delivery delivery;
    while (session_.next(delivery)) {
      if (delivery.type == Delivery::Type::sink_event) delivery.hand_over();
      if (delivery.type == Delivery::Type::redirect) redirect(delivery);
    }
  }

  /// Redirects the request to the same session, which serves as any other.
  void redirect(const Delivery& delivery) {
    require(delivery.redirect.kind != Redirect::Kind::none);
    if (delivery.request == nullptr) return;
    const QueuedRequest again{delivery.request, delivery.sink, delivery.deadline, delivery.hops};
    session_.resubmit(again, delivery.redirect.kind == Redirect::Kind::ask, now_);
  }

  Moves& moves_;
  const Kind kind_;
  Clock::time_point now_{1'000s};
  Ends sink_;
  std::deque<Asked> asked_;
  testing::CommandParser parser_;
  std::deque<testing::Command> heard_;
  std::string answers_;
  std::vector<std::string> channels_;  ///< to which the client has subscribed
  Session session_, other_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Moves moves(data, size);
  Play play(moves, static_cast<Kind>(moves.below(kinds)));
  while (!moves.over()) play.move();
  play.end();
  return 0;
}
