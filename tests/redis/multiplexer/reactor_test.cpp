// When the generation of a reactor's connections changes.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <latchkey/options.hpp>

#include "core/mutex.hpp"
#include "redis/client/scripted_peer.hpp"
#include "redis/multiplexer/make_router.hpp"
#include "redis/multiplexer/reactor.hpp"

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

}  // namespace
}  // namespace latchkey::detail::redis
