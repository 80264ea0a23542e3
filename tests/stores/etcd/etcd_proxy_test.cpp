// Holds and waits behind an HTTP/2 proxy: its errors, its farewells and its limits.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <set>
#include <string>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>

#include "erring_proxy.hpp"
#include "etcd_fixture.hpp"
#include "http2_proxy.hpp"
#include "support/servers/fault_proxy.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using Frame = Http2Frame;
using Answer = Http2Proxy::Answer;

Options behind_proxy() {
  Options options;
  options.command_timeout = 2s;
  options.watchdog = 3s;
  return options;
}

/// A transaction that has this key.
bool asks_for(const Frame& frame, std::string_view key) {
  return frame.type() == Frame::data && frame.content().find(key) != std::string_view::npos;
}

class EtcdProxy : public ::testing::Test {
 protected:
  EtcdServer server_;
};

// etcd has run the transaction. It counted as one that was never sent, and nothing gave its key
// back while the process kept its session alive.
TEST_F(EtcdProxy, AnAcquireThatIsAnsweredWithAnHttpErrorLeavesNoKey) {
  std::set<std::uint32_t> lost;
  std::atomic<int> errors{0};
  Http2Proxy proxy(
      server_.port(),
      [&](const Frame& frame) {
        if (errors == 0 && lost.empty() && asks_for(frame, "order:42/"))
          lost.insert(frame.stream());
        return Http2Proxy::forward_to_server(frame);
      },
      [&](const Frame& frame) {
        if (!lost.contains(frame.stream()) || frame.type() > Frame::headers) {
          return Http2Proxy::forward_to_client(frame);
        }
        if (errors++ > 0) return Answer{};
        return Answer{{}, Frame::error(frame.stream(), "502").bytes};
      });
  const Locks locks = etcd_locks(proxy.uri("session=5s"), behind_proxy());
  const Hold other = locks.lock("other").acquire(1s);
  try {
    static_cast<void>(locks.lock("order:42").try_acquire(0ms));
  } catch (const BackendUnavailable& unavailable) {
    EXPECT_NE(std::string(unavailable.what()).find("HTTP status 502"), std::string::npos)
        << unavailable.what();
  }
  EXPECT_GT(errors, 0);
  EXPECT_TRUE(eventually([&] { return server_.keys("order:42/").empty(); })) << "a ghost holds it";
  EXPECT_FALSE(other.lost());
}

// Whether etcd has carried out the request or not got it, whatever the request was.
TEST_F(EtcdProxy, ManyHttpErrorsLeaveNoKey) {
  ErringProxy proxy(server_.port());
  const Locks locks = etcd_locks(
      "etcd://127.0.0.1:" + std::to_string(proxy.port()) + "/?session=5s", behind_proxy());
  EXPECT_TRUE(locks.lock("order:0").acquire(5s).release());
  proxy.err(4);
  for (int order = 1; proxy.errors() < 40; ++order) {
    try {
      auto hold = locks.lock("order:" + std::to_string(order)).try_acquire(50ms);
      if (hold) static_cast<void>(hold->release());
    } catch (const BackendUnavailable&) {
      continue;  // it does not know
    }
  }
  proxy.err(0);
  EXPECT_TRUE(locks.lock("order:0").acquire(5s).release());
  EXPECT_TRUE(eventually([&] { return server_.keys("order:").empty(); })) << "a ghost holds one";
}

// A GOAWAY ended the connection at once, although the answers of the calls under way were behind
// it.
TEST_F(EtcdProxy, AGrantBehindAGoawayIsTaken) {
  std::set<std::uint32_t> marked;
  std::atomic<int> farewells{0};
  Http2Proxy proxy(
      server_.port(),
      [&](const Frame& frame) {
        if (asks_for(frame, "order:42/")) marked.insert(frame.stream());
        return Http2Proxy::forward_to_server(frame);
      },
      [&](const Frame& frame) {
        if (frame.type() != Frame::headers || marked.erase(frame.stream()) == 0) {
          return Http2Proxy::forward_to_client(frame);
        }
        ++farewells;
        return Answer{{}, Frame::goaway_after(0x7FFF'FFFF).bytes + frame.bytes};
      });
  const Locks locks = etcd_locks(proxy.uri("session=5s"), behind_proxy());
  for (int round = 0; round < 3; ++round) {
    auto hold = locks.lock("order:42").try_acquire(0ms);
    ASSERT_TRUE(hold.has_value());
    EXPECT_TRUE(hold->release());
  }
  EXPECT_GE(farewells, 3);
}

TEST_F(EtcdProxy, ACallThatAGoawayRefusesIsMadeOnTheNextConnection) {
  std::atomic<int> refused{0};
  Http2Proxy proxy(
      server_.port(),
      [&](const Frame& frame) {
        if (!asks_for(frame, "order:42/") || refused++ > 0) {
          return Http2Proxy::forward_to_server(frame);
        }
        return Answer{{}, Frame::goaway_after(frame.stream() - 2).bytes};
      },
      &Http2Proxy::forward_to_client);
  const Locks locks = etcd_locks(proxy.uri("session=5s"), behind_proxy());
  Hold hold = locks.lock("order:42").acquire(2s);
  EXPECT_EQ(server_.keys("order:42/").size(), 1U);
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(server_.keys("order:42/").empty());
}

// As nginx does with a stream on which nothing has happened for a minute. The connection ended,
// too.
TEST_F(EtcdProxy, AStreamOfWatchesThatTheProxyEndsIsOpenedAgain) {
  std::atomic<std::uint32_t> stream{0};
  std::atomic<int> opened{0}, connections{0};
  Http2Proxy proxy(
      server_.port(),
      [&](const Frame& frame) {
        if (frame.type() == Frame::settings && frame.content().size() > 0) ++connections;
        if (!asks_for(frame, "key/") || frame.content()[5] != '\x0A') {
          return Http2Proxy::forward_to_server(frame);
        }
        // A WatchRequest begins with its field 1, as other requests with a key do; the key is in
        // it.
        const bool is_watch = frame.content().substr(7).starts_with("\x0A") &&
                              frame.content().find("\x2A\x01") != std::string_view::npos;
        if (!is_watch || opened++ > 0) return Http2Proxy::forward_to_server(frame);
        stream = frame.stream();
        return Answer{{}, Frame::error(frame.stream(), "504").bytes};
      },
      &Http2Proxy::forward_to_client);
  const Locks other = etcd_locks(server_.uri(), behind_proxy());
  Hold hold = other.lock("key").acquire(1s, 20s);
  const Locks locks = etcd_locks(proxy.uri("session=20s"), behind_proxy());
  auto waiter =
      std::async(std::launch::async, [&] { return locks.lock("key").acquire(20s, 3s).release(); });
  EXPECT_TRUE(eventually([&] { return opened >= 2; }));
  const auto released = std::chrono::steady_clock::now();
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(waiter.get());
  EXPECT_LT(std::chrono::steady_clock::now() - released, 2s);
  EXPECT_EQ(connections, 1) << "the connection stays";
}

// Each awaited key was a stream of its own. Behind a server or proxy with a limit the renewals and
// acquires were not sent, and holds were lost.
TEST_F(EtcdProxy, AwaitedKeysLeaveTheStreamsToOtherCalls) {
  constexpr int keys = 12;
  server_.kill();
  server_.start({"--max-concurrent-streams=4"});
  const Locks holder = etcd_locks(server_.uri("session=5s"), behind_proxy());
  std::vector<Hold> held;
  for (int at = 0; at < keys; ++at) {
    held.push_back(holder.lock("held:" + std::to_string(at)).acquire(2s));
  }
  const Locks locks = etcd_locks(server_.uri("session=5s"), behind_proxy());
  const Hold mine = locks.lock("mine").acquire(2s);
  std::vector<std::future<bool>> waiters;
  for (int at = 0; at < keys; ++at) {
    waiters.push_back(std::async(std::launch::async, [&locks, at] {
      return locks.lock("held:" + std::to_string(at)).acquire(30s).release();
    }));
  }
  EXPECT_TRUE(eventually([&] { return server_.keys("held:").size() == 2U * keys; }));
  for (int round = 0; round < 5; ++round) {
    EXPECT_TRUE(locks.lock("free").try_acquire(2s)) << "it is free";
  }
  for (Hold& hold : held) EXPECT_TRUE(hold.release());
  for (auto& waiter : waiters) EXPECT_TRUE(waiter.get());
  EXPECT_FALSE(mine.lost());
}

TEST_F(EtcdProxy, AConnectionThatEndsWithoutAWordIsNotBlamedOnTheProtocol) {
  FaultProxy proxy(server_.port());
  const std::string uri = "etcd://127.0.0.1:" + std::to_string(proxy.port());
  proxy.refuse(true);
  std::string first;
  EXPECT_TRUE(eventually([&] {  // a reset that comes earlier is a connection that was not made
    first = etcd_refusal(uri);
    EXPECT_EQ(first.find("speaks no gRPC"), std::string::npos) << first;
    return first.find("a proxy that etcd does not answer") != std::string::npos;
  })) << first;
  proxy.refuse(false);
  const Locks locks = etcd_locks(uri, behind_proxy());
  static_cast<void>(locks.lock("key").acquire(1s));
  proxy.refuse(true);
  proxy.cut();
  try {
    static_cast<void>(locks.lock("key").try_acquire(500ms));
    ADD_FAILURE() << "granted without a connection";
  } catch (const BackendUnavailable& unavailable) {
    EXPECT_EQ(std::string(unavailable.what()).find("TLS"), std::string::npos) << unavailable.what();
  }
}

detail::etcd::CallEnd exhausted(std::string text) {
  return {.status = detail::etcd::GrpcStatus::resource_exhausted, .text = std::move(text)};
}

// A burst of requests was a refusal, which callers take for the end of their attempts.
TEST(EtcdOutcome, TooManyRequestsIsAWaitAndNoSpaceIsARefusal) {
  const Outcome busy = detail::etcd::outcome_of(exhausted("too many requests"), "key/");
  EXPECT_EQ(busy.kind, Outcome::Kind::unknown);
  EXPECT_TRUE(busy.never_ran);
  const Outcome limited = detail::etcd::outcome_of(exhausted("rate limit of the proxy"), "key/");
  EXPECT_EQ(limited.kind, Outcome::Kind::unknown);
  EXPECT_FALSE(limited.never_ran);
  const Outcome full = detail::etcd::outcome_of(exhausted("mvcc: database space exceeded"), "key/");
  EXPECT_EQ(full.kind, Outcome::Kind::refused);
  EXPECT_NE(full.reason.find("accepts no writes"), std::string::npos) << full.reason;
}

}  // namespace
}  // namespace latchkey::tests
