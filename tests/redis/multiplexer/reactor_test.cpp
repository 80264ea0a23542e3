// When the generation of a reactor's connections changes, and which server a name leads to.
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/options.hpp>

#include "core/mutex.hpp"
#include "redis/client/scripted_peer.hpp"
#include "redis/connect/connector.hpp"
#include "redis/multiplexer/reactor.hpp"
#include "redis/routing/router.hpp"
#include "redis/session/session_fixture.hpp"
#include "support/recorder.hpp"

namespace latchkey::detail::redis {
namespace {

using testing::ScriptedPeer;

// A thread that sleeps in poll does not poll a connection that is made meanwhile. The new
// generation shows that the thread must be interrupted: otherwise the data of the connection stays
// unread until the poll ends.
TEST(Reactor, ANewConnectionIsANewGeneration) {
  const ScriptedPeer peer(ScriptedPeer::proper);
  const RedisUri uri = RedisUri::parse(peer.uri());
  Reactor reactor(Clock::system());
  MultiplexerState state(make_router(uri, {}, nullptr));
  const ScopedLock lock(state.mutex);
  const std::uint64_t before = reactor.generation();
  reactor.handle_deadlines(state);
  const PollSet::Borrowed borrowed;
  Reactor::add_descriptors(state, borrowed.set());
  EXPECT_EQ(borrowed.set().size(), 1U) << "it is being connected to";
  EXPECT_NE(reactor.generation(), before);
  const std::uint64_t connected = reactor.generation();
  reactor.handle_deadlines(state);
  EXPECT_EQ(reactor.generation(), connected) << "no connection has changed";
}

/// The ports of 127.0.0.1 that every name leads to, and how often one was looked up. Static,
/// because the thread of a look-up may outlive its test.
std::atomic<int> first_port, second_port, lookups;

Address at_port(int port) {
  sockaddr_in plain{};
  plain.sin_family = AF_INET;
  plain.sin_port = htons(static_cast<std::uint16_t>(port));
  plain.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Address address;
  std::memcpy(&address.storage, &plain, sizeof plain);
  address.size = sizeof plain;
  return address;
}

Lookup::Answer both(const std::string& /*host*/, std::uint16_t /*port*/) {
  ++lookups;
  return std::vector{at_port(first_port), at_port(second_port)};
}

Lookup::Answer first_the_one_and_then_the_other(const std::string& /*host*/, std::uint16_t) {
  return std::vector{at_port(lookups++ == 0 ? first_port : second_port)};
}

std::string replica(const Command& command) {
  if (command[0] != "HELLO") return ScriptedPeer::proper(command);
  const std::string greeting = testing::hello_answer(3, "run", "replica");
  return greeting.substr(0, greeting.find('='));
}

/// A reactor with one connection, to a host name.
class ReactorOfAName : public ::testing::Test {
 protected:
  void resolve_with(Lookup::Resolver resolver, const ScriptedPeer& first,
                    const ScriptedPeer& second) {
    first_port = first.port();
    second_port = second.port();
    lookups = 0;
    const ScopedLock lock(state_.mutex);
    ServerConnection& connection = *state_.router->connections().front();
    connection.connector =
        std::make_unique<TcpConnector>(connection.uri, connection.transport, resolver);
  }
  void submit(Request& request) {
    Request* const one[] = {&request};
    const ScopedLock lock(state_.mutex);
    state_.router->submit(one, sink, Clock::system().now());
  }
  /// Does what is due, sends and receives once. True: the connection is up.
  bool step() {
    const ScopedLock lock(state_.mutex);
    ServerConnection& connection = *state_.router->connections().front();
    reactor_.handle_deadlines(state_);
    while (connection.can_send()) {
      const Io io = connection.transport.write(connection.session.to_send());
      if (io.kind != Io::Kind::moved) break;
      connection.session.sent(io.count);
    }
    const PollSet::Borrowed borrowed;
    Reactor::add_descriptors(state_, borrowed.set());
    borrowed.set().poll(1ms);
    reactor_.handle_events(state_, borrowed.set());
    Delivery delivery;
    while (state_.router->next(delivery, Clock::system().now())) delivery.hand_over();
    return connection.session.stage() == Session::Stage::up;
  }

  RecordingSink sink;

 private:
  Reactor reactor_{Clock::system()};
  MultiplexerState state_{
      make_router(RedisUri::parse("redis://name-of-a-test.invalid"), {}, nullptr)};
};

TEST_F(ReactorOfAName, AnAddressWhoseServerIsAReplicaLeadsToTheNextAddress) {
  const ScriptedPeer old(ScriptedPeer::OnPort{}, replica);
  const ScriptedPeer master(ScriptedPeer::OnPort{}, ScriptedPeer::proper);
  resolve_with(both, old, master);
  ASSERT_TRUE(tests::eventually([&] { return step(); }));
  EXPECT_EQ(old.connections(), 1);
  EXPECT_EQ(master.connections(), 1);
  EXPECT_EQ(lookups, 2);
}

TEST_F(ReactorOfAName, TheNameOfAMasterThatBecameAReplicaIsLookedUpAgain) {
  std::atomic<bool> failed_over = false;
  const ScriptedPeer old(ScriptedPeer::OnPort{},
                         [&](const Command& command) -> std::optional<std::string> {
                           if (!ScriptedPeer::is_script(command)) {
                             return failed_over ? replica(command) : ScriptedPeer::proper(command);
                           }
                           failed_over = true;
                           return "-READONLY You can't write against a read only replica.\r\n";
                         });
  const ScriptedPeer master(ScriptedPeer::OnPort{}, ScriptedPeer::proper);
  resolve_with(first_the_one_and_then_the_other, old, master);
  ASSERT_TRUE(tests::eventually([&] { return step(); }));
  ASSERT_EQ(old.connections(), 1);

  Request request;
  request.key = "k";
  request.id = {{1, 2}, 1};
  request.lease = 30s;
  submit(request);
  ASSERT_TRUE(tests::eventually([&] { return step() && master.connections() == 1; }));
  EXPECT_EQ(sink.outcomes.size(), 1U);
  EXPECT_EQ(lookups, 2);
}

}  // namespace
}  // namespace latchkey::detail::redis
