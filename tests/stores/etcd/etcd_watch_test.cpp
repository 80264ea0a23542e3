// The keys of holds are watched on a real etcd: a hold that somebody takes away is lost long before
// its next check.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/recorder.hpp>

#include "core/file_descriptor.hpp"
#include "etcd_fixture.hpp"
#include "http2_proxy.hpp"
#include "support/servers/fault_proxy.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using enum LockType;

/// The text of http://127.0.0.1:<port>/metrics.
std::string metrics_of(std::uint16_t port) {
  const latchkey::detail::FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  constexpr std::string_view request = "GET /metrics HTTP/1.0\r\n\r\n";
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    throw std::runtime_error("etcd tells no metrics");
  }
  std::string text;
  char part[4096];
  for (ssize_t read = 1; read > 0;) {
    read = ::recv(socket.get(), part, sizeof part, 0);
    if (read > 0) text.append(part, static_cast<std::size_t>(read));
  }
  return text;
}

class EtcdWatch : public ::testing::Test {
 protected:
  /// Each hold has this lease. Without a watch its loss is known after a third of it.
  static constexpr auto lease = 30s;

  [[nodiscard]] Locks connect(const std::string& uri, Options options = {}) {
    options.listener = &recorder_;
    return etcd_locks(uri, options);
  }
  [[nodiscard]] Locks connect() { return connect(server_.uri("session=45s")); }
  [[nodiscard]] int metric(const std::string& name) const {
    const std::string text = metrics_of(server_.port());
    const std::size_t found = text.find('\n' + name + ' ');
    if (found == std::string::npos) throw std::runtime_error("etcd has no metric " + name);
    return std::stoi(text.substr(found + name.size() + 2));
  }
  /// How many watches, or streams of watches, etcd has.
  [[nodiscard]] int watches() const { return metric("etcd_debugging_mvcc_watcher_total"); }
  [[nodiscard]] int streams() const { return metric("etcd_debugging_mvcc_watch_stream_total"); }
  bool await_watches(int count) {
    return eventually([&] { return watches() == count; });
  }
  void delete_keys_of(const std::string& lock) { server_.ctl({"del", "--prefix", lock + '/'}); }
  /// Whether `hold` is known as lost within a second after `take_away`.
  ::testing::AssertionResult is_lost_at_once(const Hold& hold,
                                             const std::function<void()>& take_away) {
    take_away();
    const Stalls stalls;
    const auto begin = std::chrono::steady_clock::now();
    if (!eventually([&] { return hold.lost(); }))
      return ::testing::AssertionFailure() << "not lost";
    const auto took = std::chrono::steady_clock::now() - begin - stalls.total();
    if (took < 1s) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "lost after " << took / 1ms << " ms";
  }

  EtcdServer server_;
  testing::Recorder recorder_{false};
};

TEST_F(EtcdWatch, ADeletedKeyIsLostAtOnceWhateverItsType) {
  const Locks locks = connect();
  EXPECT_TRUE(locks.capabilities().watches);
  for (const LockType type : {REENTRANT, FENCED, FAIR, READ, WRITE}) {
    for (const Lease& each : {Lease(watchdog), Lease(lease)}) {
      const std::string key =
          std::string(to_string(type)) + (each.is_watchdog() ? ":watchdog" : ":fixed");
      SCOPED_TRACE(key);
      const Hold hold = locks.lock(key, type).acquire(0ms, each);
      ASSERT_TRUE(await_watches(1));
      EXPECT_FALSE(hold.lost());
      EXPECT_TRUE(is_lost_at_once(hold, [&] { delete_keys_of(key); }));
      EXPECT_TRUE(await_watches(0));
    }
  }
}

TEST_F(EtcdWatch, AForcedReleaseAndARevokedSessionAreLostAtOnce) {
  const Locks locks = connect();
  const Locks others = etcd_locks(server_.uri());
  const Hold forced = locks.lock("forced").acquire(0ms, lease);
  const Hold revoked = locks.lock("revoked").acquire(0ms, lease);
  const std::stop_token stop = forced.stop_token();
  ASSERT_TRUE(await_watches(2));
  EXPECT_TRUE(is_lost_at_once(forced, [&] { others.force_release("forced"); }));
  EXPECT_TRUE(eventually([&] { return stop.stop_requested(); }));
  EXPECT_TRUE(recorder_.await(Event::Kind::lost));
  EXPECT_FALSE(revoked.lost());
  const std::string key = server_.keys("revoked/").at(0);
  EXPECT_TRUE(is_lost_at_once(
      revoked, [&] { server_.ctl({"lease", "revoke", key.substr(key.rfind('/') + 1)}); }));
}

TEST_F(EtcdWatch, AGrantAfterAWaitIsWatched) {
  const Locks locks = connect();
  const Locks others = etcd_locks(server_.uri("session=45s"));
  std::optional<Hold> first = others.lock("key").acquire(0ms, lease);
  std::optional<Hold> second;
  std::jthread waiter([&] { second = locks.lock("key").acquire(20s, lease); });
  ASSERT_TRUE(eventually([&] { return server_.keys("key/").size() == 2; }));
  EXPECT_TRUE(first->release());
  waiter.join();
  ASSERT_TRUE(second.has_value());
  ASSERT_TRUE(await_watches(1)) << "and none for the key in front of it";
  EXPECT_TRUE(is_lost_at_once(*second, [&] { delete_keys_of("key"); }));
}

TEST_F(EtcdWatch, OwnRenewalsAndReleasesNotifyNothingAndLeaveNoWatch) {
  testing::Probe probe(etcd_backend(server_.uri("session=45s")), {});
  Request renew;
  renew.verb = Verb::renew;
  renew.key = "key";
  renew.lease = lease;
  renew.watch = true;
  for (int round = 1; round <= 3; ++round) {
    renew.id = probe.fresh_id();
    EXPECT_EQ(probe.acquire("key", REENTRANT, renew.id, lease).kind, Outcome::Kind::granted);
    for (int check = 1; check <= 3; ++check) {
      EXPECT_EQ(probe.send(renew).kind, Outcome::Kind::granted);
      EXPECT_TRUE(eventually([&] { return probe.notes().empty() && watches() == 1; }))
          << "all checks share one watch";
    }
    EXPECT_EQ(probe.send(Verb::release, "key", REENTRANT, renew.id).kind, Outcome::Kind::granted);
    EXPECT_TRUE(eventually([&] {
      EXPECT_TRUE(probe.notes().empty());
      return watches() == 0;
    }));
  }
  EXPECT_TRUE(probe.notes(200ms).empty());
}

TEST_F(EtcdWatch, TheEndOfALeaseLeavesNoWatch) {
  const Locks locks = connect();
  const Hold hold = locks.lock("key").acquire(0ms, 900ms);
  ASSERT_TRUE(await_watches(1));
  EXPECT_TRUE(eventually([&] { return hold.lost(); }));
  EXPECT_TRUE(await_watches(0));
}

TEST_F(EtcdWatch, ShortHoldsOpenNoStream) {
  const Locks locks = connect();
  for (int turn = 0; turn < 20; ++turn) EXPECT_TRUE(locks.lock("key").acquire(0ms).release());
  EXPECT_EQ(streams(), 0);
}

TEST_F(EtcdWatch, ANewConnectionWatchesAnew) {
  FaultProxy proxy(server_.port());
  const Locks locks = connect("etcd://127.0.0.1:" + std::to_string(proxy.port()) + "/?session=45s");
  const Hold hold = locks.lock("key").acquire(0ms, lease);
  ASSERT_TRUE(await_watches(1));
  proxy.refuse(true);
  proxy.cut();
  ASSERT_TRUE(await_watches(0));
  proxy.refuse(false);
  ASSERT_TRUE(recorder_.await(Event::Kind::connection_restored));
  ASSERT_TRUE(await_watches(1));
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(is_lost_at_once(hold, [&] { delete_keys_of("key"); }));
}

/// A proxy that ends the first stream of watches, and each later one until it is told to let them
/// pass.
class EndsStreams {
 public:
  explicit EndsStreams(std::uint16_t server_port)
      : proxy_(
            server_port,
            [this](const Http2Frame& frame) {
              constexpr std::string_view filter("\x2A\x01\x00", 3);  // NOPUT: of watches only
              const bool creates = frame.type() == Http2Frame::data &&
                                   frame.content().find(filter) != std::string_view::npos;
              if (creates && ends_) {
                ++ended_;
                return Http2Proxy::Answer{Http2Frame::cancel(frame.stream()).bytes,
                                          Http2Frame::cancel(frame.stream()).bytes};
              }
              Http2Proxy::Answer answer = Http2Proxy::forward_to_server(frame);
              if (creates) stream_ = frame.stream();
              if (!ends_ || stream_ == 0) return answer;
              ++ended_;
              answer.to_server += Http2Frame::cancel(stream_).bytes;
              answer.to_client += Http2Frame::cancel(std::exchange(stream_, 0)).bytes;
              return answer;
            },
            &Http2Proxy::forward_to_client) {}

  [[nodiscard]] std::string uri() const { return proxy_.uri("session=45s"); }
  /// Ends them from the next frame of the client on.
  void end() { ends_ = true; }
  void pass() { ends_ = false; }
  [[nodiscard]] int ended() const { return ended_; }

 private:
  std::uint32_t stream_ = 0;  ///< of the thread of the proxy
  std::atomic<int> ended_{0};
  std::atomic<bool> ends_{false};
  Http2Proxy proxy_;
};

TEST_F(EtcdWatch, AStreamThatIsMadeAgainTellsOfWhatItMissed) {
  EndsStreams proxy(server_.port());
  const Locks locks = connect(proxy.uri());
  const Hold hold = locks.lock("key").acquire(0ms, lease);
  ASSERT_TRUE(await_watches(1));
  proxy.end();
  EXPECT_TRUE(locks.lock("other").acquire(1s).release());
  EXPECT_TRUE(await_watches(0));
  delete_keys_of("key");
  const Stalls stalls;
  const auto begin = std::chrono::steady_clock::now();
  proxy.pass();
  EXPECT_TRUE(eventually([&] { return hold.lost(); }));
  EXPECT_GE(proxy.ended(), 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin - stalls.total(), 3s)
      << "it is made each second";
}

TEST_F(EtcdWatch, AStreamThatIsMadeAgainWithoutAChangeWatchesOn) {
  EndsStreams proxy(server_.port());
  testing::Probe probe(etcd_backend(proxy.uri()), {});
  Request renew;
  renew.verb = Verb::renew;
  renew.key = "key";
  renew.id = probe.fresh_id();
  renew.lease = lease;
  renew.watch = true;
  EXPECT_EQ(probe.acquire("key", REENTRANT, renew.id, lease).kind, Outcome::Kind::granted);
  EXPECT_EQ(probe.send(renew).kind, Outcome::Kind::granted);
  EXPECT_TRUE(eventually([&] { return probe.notes().empty() && watches() == 1; }));
  proxy.end();
  EXPECT_EQ(probe.send(renew).kind, Outcome::Kind::granted);
  EXPECT_TRUE(eventually([&] { return probe.notes().empty() && watches() == 0; }));
  proxy.pass();
  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(probe.notes().empty());
    return watches() == 1;
  }));
  delete_keys_of("key");
  const auto notes = probe.notes(10s);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].kind, Notification::Kind::changed);
}

TEST_F(EtcdWatch, TheOptionSwitchesItOff) {
  const Locks locks = connect(server_.uri("session=45s"), {.watch_holds = false});
  EXPECT_FALSE(locks.capabilities().watches);
  const Hold hold = locks.lock("key").acquire(0ms, 3s);
  delete_keys_of("key");
  EXPECT_TRUE(eventually([&] { return hold.lost(); })) << "by the next check";
  EXPECT_EQ(streams(), 0);
}

}  // namespace
}  // namespace latchkey::tests
