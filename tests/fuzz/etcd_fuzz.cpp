// Drives an EtcdClient with requests, time, and a server that answers as it should, or with
// messages, statuses and frames of any kind. Every request must end exactly once, and nothing may
// hang, or end the process.
//
// Each byte of the input is a move, or decides how the server answers.
//
// Covers: src/stores/etcd/wire/messages.cpp src/stores/etcd/transport/grpc_call.cpp
// Covers: src/stores/http2/http2_session.cpp src/stores/etcd/transport/grpc_transport.cpp
// Covers: src/stores/etcd/lock_queue.cpp src/stores/etcd/lock_queue_acquire.cpp
// Covers: src/stores/etcd/watches.cpp src/stores/etcd/queue_keys.cpp
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <latchkey/testing/manual_clock.hpp>

#include "fuzz/moves.hpp"
#include "fuzz/store_play.hpp"
#include "stores/etcd/client.hpp"
#include "stores/etcd/fake_server.hpp"
#include "stores/etcd/wire/protobuf.hpp"

namespace {

using namespace std::chrono_literals;
using namespace latchkey::fuzz;
using latchkey::Verb;
using latchkey::detail::etcd::EtcdClient;
using latchkey::detail::etcd::EtcdUri;
using latchkey::detail::etcd::ProtobufWriter;
using latchkey::tests::FakeEtcd;
namespace etcd_wire = latchkey::tests::etcd_wire;

constexpr auto timeout = 2000ms;

/// The server: it knows the shape of each message, and lies as the input says.
class Server {
 public:
  explicit Server(Moves& moves) : moves_(moves) {}

  std::optional<std::string> answer(const FakeEtcd::Call& call) {
    is_honest_ = is_of_start(call) && !rarely(24);
    const bool is_stream = call.path.ends_with("/Watch");
    std::string content = message_for(call.path);
    if (!is_honest_) content = damaged(std::move(content));
    std::string reply = (call.is_first ? etcd_wire::head(call.stream) : std::string()) +
                        etcd_wire::message(call.stream, content);
    if (lies(16)) {
      static constexpr std::array<std::string_view, 8> statuses{"1",  "5",  "8", "9",
                                                                "14", "16", "x", ""};
      reply = etcd_wire::trailer(call.stream, statuses[moves_.below(statuses.size())]);
    } else if (!is_stream || lies(16)) {
      reply += etcd_wire::trailer(call.stream);
    }
    if (is_honest_) return reply;
    switch (moves_.below(32)) {
      case 27: return std::nullopt;
      case 28: return std::string(moves_.bytes(1 + moves_.below(12)));
      case 29: return reply + reply;
      default: return damaged(std::move(reply));
    }
  }
  /// A message that a server sends without a request.
  std::string word(std::uint32_t stream) {
    using namespace etcd_wire;
    switch (moves_.below(6)) {
      case 0:
        return frame(goaway, 0, 0, number(moves_.below(2) * 99, 4) + number(moves_.below(3), 4));
      case 1: return frame(reset, 0, stream, number(moves_.below(14), 4));
      case 2: return frame(ping, 0, 0, "12345678");
      default: return message(stream, watch());
    }
  }

 private:
  bool rarely(std::size_t bound) { return moves_.below(bound) == bound - 1; }
  bool lies(std::size_t bound) { return !is_honest_ && rarely(bound); }
  static bool is_of_start(const FakeEtcd::Call& call) noexcept {
    return call.path.ends_with("/Status") || call.path.ends_with("/LeaseGrant") ||
           call.path.ends_with("/Range") || call.path.ends_with("/Authenticate");
  }
  std::string damaged(std::string bytes) {
    if (bytes.empty()) return bytes;
    switch (moves_.below(16)) {
      case 14: bytes.resize(moves_.below(bytes.size())); break;
      case 15:
        bytes[moves_.below(std::min<std::size_t>(bytes.size(), 256))] =
            static_cast<char>(moves_.below(256));
        break;
      default: break;
    }
    return bytes;
  }

  std::int64_t amount() {
    static constexpr std::array<std::int64_t, 12> numbers{
        0, 1, 2, 3, 4, 5, 7, 30, -1, INT64_MAX, INT64_MIN, INT64_MAX / 1'000};
    return numbers[moves_.below(numbers.size())];
  }
  std::string header() { return ProtobufWriter().number(3, amount()).take(); }
  std::string key_value() {
    static constexpr std::array<std::string_view, 8> keys{
        "a", "a/", "a/5", "b/7", "a/0000000000000005", "", "a/read/5", "a/write/5"};
    return ProtobufWriter()
        .bytes(1, keys[moves_.below(keys.size())])
        .number(2, amount())
        .bytes(5, moves_.bytes(moves_.below(8) * moves_.below(8)))
        .number(6, amount())
        .take();
  }
  std::string range() {
    ProtobufWriter made;
    made.message(1, header());
    for (std::size_t left = moves_.below(3); left > 0; --left) made.message(2, key_value());
    return made.take();
  }
  std::string lease() {
    return ProtobufWriter()
        .message(1, header())
        .number(2, is_honest_ ? 5 : amount())
        .number(3, is_honest_ ? 45 : amount())
        .take();
  }
  std::string watch() {
    ProtobufWriter made;
    made.message(1, header()).number(2, amount()).number(3, amount()).number(4, amount() == 1);
    for (std::size_t left = moves_.below(3); left > 0; --left) {
      made.message(11, ProtobufWriter().number(1, amount()).message(2, key_value()).take());
    }
    return made.take();
  }
  std::string transaction() {
    ProtobufWriter made;
    made.message(1, header()).number(2, amount() > 0);
    for (std::size_t left = moves_.below(4); left > 0; --left) {
      const std::string part =
          moves_.below(3) == 0 ? ProtobufWriter().number(2, amount()).take() : range();
      made.message(
          3,
          ProtobufWriter().message(1 + static_cast<std::uint32_t>(moves_.below(3)), part).take());
    }
    return made.take();
  }
  std::string message_for(std::string_view path) {
    if (path.ends_with("/Status")) {
      return ProtobufWriter().bytes(2, is_honest_ ? "3.5.9" : "x").number(4, 1).take();
    }
    if (path.ends_with("/LeaseGrant") || path.ends_with("KeepAlive")) return lease();
    if (path.ends_with("/Range")) return is_honest_ ? std::string() : range();
    if (path.ends_with("/Watch")) return watch();
    if (path.ends_with("/DeleteRange")) return ProtobufWriter().number(2, amount()).take();
    if (path.ends_with("/Authenticate")) return ProtobufWriter().bytes(2, "token").take();
    return path.ends_with("/Txn") ? transaction() : header();
  }

  Moves& moves_;
  bool is_honest_ = false;  ///< the current reply is correct
};

constexpr std::array verbs{Verb::acquire, Verb::acquire, Verb::acquire,       Verb::release,
                           Verb::release, Verb::renew,   Verb::verify,        Verb::downgrade,
                           Verb::leave,   Verb::inspect, Verb::list,          Verb::subscribe,
                           Verb::acquire, Verb::expire,  Verb::force_release, Verb::unsubscribe};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Moves moves(data, size);
  Server script(moves);
  FakeEtcd server([&](const FakeEtcd::Call& call) { return script.answer(call); });
  latchkey::testing::ManualClock clock;
  EtcdUri uri = EtcdUri::parse(server.uri());
  if (moves.below(3) == 0) {
    uri.user = "user";
    uri.password = "secret";
  }
  EtcdClient client(std::move(uri), {.command_timeout = timeout, .clock = &clock});
  StorePlay play(moves, clock, client, timeout, verbs, [&] { return server.work(0); });
  while (!moves.over()) {
    if (moves.below(6) == 0) server.say([&](std::uint32_t stream) { return script.word(stream); });
    play.move();
  }
  play.end();
  return 0;
}
