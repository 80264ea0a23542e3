// Drives a Session of ZooKeeper with operations, and a server that replies as it should, or with
// anything else. Each operation is completed at most once, and nothing may hang, or end the
// process.
//
// Each byte of the input is a move, followed by the parameters of the move. What one side sends has
// arrived before the other one looks, so a play depends on its input only.
//
// Covers: src/stores/zookeeper/reply_check.cpp src/stores/zookeeper/session_operations.cpp
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "fuzz/moves.hpp"
#include "fuzz/zookeeper_server.hpp"
#include "stores/zookeeper/session.hpp"

namespace {

using namespace std::chrono_literals;
using namespace latchkey::detail::zookeeper;
using namespace latchkey::fuzz;

/// Happens once, between a look of the session that finds nothing and what the library does next.
std::function<void()> after_a_vain_look;

class Play {
 public:
  explicit Play(Moves& moves)
      : moves_(moves), session_(uri(server_.port()), [](std::string_view, NodeEvent) {}) {
    drive(true);
    server_.accept();
    while (session_.state() != Session::State::connected) {
      require(session_.ended() == 0);
      drive(true);
    }
  }
  Play(const Play&) = delete;
  Play& operator=(const Play&) = delete;
  ~Play() { after_a_vain_look = nullptr; }

  void move() {
    switch (moves_.below(16)) {
      case 0:
      case 1:
      case 2: operate(); break;
      case 3:
      case 4:
      case 5: server_.send(next_reply()); break;
      case 6: server_.send(spoilt(next_reply())); break;
      case 7: shorten(next_reply()); break;
      case 8: server_.send_raw(std::string(moves_.bytes(1 + moves_.below(32)))); break;
      case 9:
        server_.send(number(-1) + number(0, 8) + number(0) + number(2) + number(3) + text("/a"));
        break;
      case 10: server_.send(number(-2) + number(0, 8) + number(0)); break;
      case 11: long_reply(); break;
      case 12: split(next_reply()); break;
      case 13:
        if (moves_.below(8) == 0) server_.hang_up();
        break;
      case 14:
        if (moves_.below(8) == 0) session_.break_connection();
        break;
      case 15: after_a_vain_look = [this] { server_.send_raw(spoilt(text(next_reply()))); }; break;
      default: break;
    }
    drive();
  }

  void end() {
    for (int step = 0; step < 4; ++step) drive();
    session_.drop();
    for (const int each : completed_) require(each <= 1);
    server_.hang_up();  // the library would wait for a reply to its goodbye
  }

 private:
  static ZooKeeperUri uri(std::uint16_t port) {
    return ZooKeeperUri::parse("zookeeper://127.0.0.1:" + std::to_string(port), 10s);
  }

  /// A time without a limit cannot pass: one connection lasts for one play.
  void drive(bool waits = false) {
    if (session_.ended() > 0) return;
    session_.send_out();
    std::chrono::microseconds ignored{};
    pollfd wanted{.fd = -1, .events = session_.interest(ignored), .revents = 0};
    wanted.fd = session_.descriptor();
    server_.work(wanted.fd);
    if (wanted.fd < 0) return;
    if (waits) await_event(wanted.fd, wanted.events);
    ::poll(&wanted, 1, 0);
    session_.process(wanted.revents);
    server_.work(session_.descriptor());
  }

  void operate() {
    if (session_.state() != Session::State::connected) return;
    completed_.push_back(0);
    const auto done = [&count = completed_.back()](Reply&& reply) {
      ++count;
      require(reply.children.size() < 100'000);
    };
    switch (moves_.below(10)) {
      case 0: return session_.create("/a/lock-", "id", Session::Mode::sequence, done);
      case 1: return session_.create("/a", {}, Session::Mode::container, done);
      case 2: return session_.remove("/a/b", done);
      case 3: return session_.exists("/a/b", moves_.below(2) == 0, done);
      case 4: return session_.get("/a/b", done);
      case 5: return session_.children("/a", moves_.below(2) == 0, done);
      case 6: return session_.replace("/a/b", "/a/c", "id", done);
      case 7: return session_.sync("/a", done);
      case 8: return session_.reach_leader("/a/b", Session::Reach::majority);
      default: return session_.reach_leader("/a", Session::Reach::leader);
    }
  }

  /// To the oldest request without one.
  std::string next_reply() {
    auto& requests = server_.requests();
    if (requests.empty()) return number(77) + number(1, 8) + number(0);
    const FakeZooKeeper::Request request = requests.front();
    requests.pop_front();
    const std::string begin = request.xid + number(1, 8);
    if (moves_.below(4) == 0) {
      static constexpr std::array errors{-101, -110, -102, -4, -112, -6};
      return begin + number(errors[moves_.below(errors.size())]);
    }
    return begin + number(0) + body(request.kind);
  }

  std::string body(std::uint32_t kind) {
    const std::string stat(68, '\1');
    const auto result = [](int type, bool done) {
      return number(type) + (done ? '\1' : '\0') + number(done ? -1 : 0);
    };
    switch (kind) {
      case 3: return stat;
      case 4: return text("data") + stat;
      case 8: return number(2) + text("lock-0000000001") + text("b");
      case 9: return text("/a");
      case 14:
        switch (moves_.below(3)) {
          case 0: return result(13, false) + result(-1, true);
          case 1: return result(-1, false) + number(-101) + result(-1, true);
          default: return result(2, false) + result(1, false) + text("/a/c") + result(-1, true);
        }
      case 15:
      case 19: return text("/a/lock-0000000001") + stat;
      default: return {};
    }
  }

  std::string spoilt(std::string reply) {
    reply[moves_.below(reply.size())] = static_cast<char>(moves_.below(256));
    return reply;
  }
  void shorten(const std::string& reply) {
    server_.send(reply.substr(0, moves_.below(reply.size())));
  }
  void split(const std::string& reply) {
    const std::string bytes = text(reply);
    const std::size_t at = moves_.below(bytes.size());
    server_.send_raw(bytes.substr(0, at));
    drive();
    server_.send_raw(bytes.substr(at));
  }
  /// Some of them as long as only a few replies may be.
  void long_reply() {
    std::string reply = next_reply().substr(0, 16) + number(2) + text(std::string(40'000, 'n'));
    reply += moves_.below(2) == 0 ? text("b") : number(1 << 30);
    if (moves_.below(2) == 0) reply += std::string(68, '\1');
    server_.send(reply);
  }

  Moves& moves_;
  FakeZooKeeper server_;
  Session session_;
  std::deque<int> completed_;
};

}  // namespace

/// The session's and the library's, instead of that of the C library.
extern "C" ssize_t recv(int descriptor, void* bytes, std::size_t size, int flags) {
  const ssize_t got = ::recvfrom(descriptor, bytes, size, flags, nullptr, nullptr);
  if (got >= 0 || (flags & MSG_PEEK) == 0 || after_a_vain_look == nullptr) return got;
  const int error = errno;
  std::exchange(after_a_vain_look, nullptr)();
  errno = error;
  return got;
}

/// libzookeeper itself forgets some memory if a reply is malformed.
extern "C" const char* __lsan_default_suppressions() { return "leak:libzookeeper_st.so\n"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Moves moves(data, size);
  Play play(moves);
  while (!moves.over()) play.move();
  play.end();
  return 0;
}
