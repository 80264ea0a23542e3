// Many threads share one connection to a peer that cuts, delays or corrupts its replies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "redis/client/scripted_peer.hpp"
#include "redis/multiplexer/requests.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using testing::Command;
using testing::ScriptedPeer;
using Kind = Outcome::Kind;
using SendAs = ScriptedPeer::SendAs;
using ::testing::HasSubstr;

std::string busy_reply() { return "*2\r\n:5\r\n$5\r\nowner\r\n"; }

class EveryCut : public ::testing::TestWithParam<SendAs> {};

TEST_P(EveryCut, ManyThreadsGetTheRepliesToTheirOwnRequests) {
  // The reply depends on the owner, so a thread notices a reply to another thread's request.
  const ScriptedPeer peer(
      [](const Command& command) -> std::optional<std::string> {
        if (!ScriptedPeer::is_script(command)) return ScriptedPeer::proper(command);
        const std::string& owner = command[5];
        const bool even = (owner.back() - '0') % 2 == 0;
        return even ? ":0\r\n" : busy_reply();
      },
      GetParam());
  Requests requests(peer.uri());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 6; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 60; ++round) {
        Entry entry;
        requests.fill(entry, Verb::acquire);
        requests.submit(entry);
        requests.wait_for(entry);
        const bool even = entry.request.id.number % 2 == 0;
        if (entry.kind != (even ? Kind::granted : Kind::busy)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(peer.connections(), 1);
}

INSTANTIATE_TEST_SUITE_P(ConnectionMultiplexer, EveryCut,
                         ::testing::Values(SendAs::it_is, SendAs::single_bytes,
                                           SendAs::random_pieces));

TEST(ConnectionMultiplexer, ATruncatedReplyMakesTheOutcomeUnknownAndTheNextConnectionWorks) {
  std::atomic<bool> cut = true;
  const ScriptedPeer peer([&](const Command& command) -> std::optional<std::string> {
    if (ScriptedPeer::is_script(command) && cut.exchange(false)) return std::nullopt;
    return ScriptedPeer::proper(command);
  });
  Requests requests(peer.uri());
  EXPECT_EQ(requests.execute(Verb::acquire), Kind::unknown);
  EXPECT_TRUE(requests.eventually_granted());
  EXPECT_EQ(peer.connections(), 2);
}

TEST(ConnectionMultiplexer, InvalidBytesMakeTheOutcomeUnknownAndTheNextConnectionWorks) {
  std::atomic<bool> garbage = true;
  const ScriptedPeer peer([&](const Command& command) -> std::optional<std::string> {
    if (ScriptedPeer::is_script(command) && garbage.exchange(false)) return "!?\r\n:0\r\n";
    return ScriptedPeer::proper(command);
  });
  Requests requests(peer.uri());
  EXPECT_EQ(requests.execute(Verb::acquire), Kind::unknown);
  EXPECT_TRUE(requests.eventually_granted());
}

// Nobody drives while its reply arrives, for longer than the timeout of two commands.
TEST(ConnectionMultiplexer, AServerIsNotDeadBecauseNobodyReadItsReply) {
  const ScriptedPeer peer(ScriptedPeer::proper);
  constexpr auto timeout = 1s;
  Requests requests(peer.uri(), timeout);
  ASSERT_EQ(requests.execute(Verb::acquire), Kind::granted);
  Entry unread, next;
  requests.fill(unread, Verb::acquire);
  requests.submit(unread);
  // sleeps: the reply is overdue, and nobody waits for it
  std::this_thread::sleep_for(2 * timeout + 100ms);
  requests.fill(next, Verb::acquire);
  requests.submit(next);
  requests.wait_for(next);
  EXPECT_EQ(next.kind, Kind::granted);
  EXPECT_EQ(unread.completions, 1);
  EXPECT_EQ(peer.connections(), 1);
}

TEST(ConnectionMultiplexer, CorruptedRepliesCompleteEachRequestExactlyOnce) {
  std::minstd_rand chance{7};
  const ScriptedPeer peer(
      [&](const Command& command) -> std::optional<std::string> {
        std::string reply = ScriptedPeer::proper(command);
        if (!ScriptedPeer::is_script(command)) return reply;
        if (chance() % 3 == 0) reply = busy_reply();
        for (int change = 0; change < 2; ++change) {
          if (chance() % 2 == 0) reply[chance() % reply.size()] = static_cast<char>(chance());
        }
        if (chance() % 8 == 0) reply += ":1\r\n";
        return reply;
      },
      SendAs::random_pieces);
  std::optional<Requests> requests;
  while (!requests) {
    try {
      requests.emplace(peer.uri(), 20ms);
    } catch (const BackendUnavailable&) {
      // A slow machine: the peer did not greet within that time.
    }
  }
  for (int round = 0; round < 300; ++round) {
    Entry entries[3];
    for (Entry& entry : entries) {
      requests->fill(entry, Verb::acquire);
      requests->submit(entry);
    }
    for (Entry& entry : entries) requests->wait_for(entry);
    for (const Entry& entry : entries) ASSERT_EQ(entry.completions, 1);
  }
}

TEST(ConnectionMultiplexer, StartReportsAPeerThatDoesNotAnswer) {
  const ScriptedPeer peer([](const Command&) -> std::optional<std::string> { return ""; });
  try {
    Requests requests(peer.uri(), 100ms);
    FAIL() << "started";
  } catch (const BackendUnavailable& error) {
    EXPECT_THAT(error.what(), HasSubstr(peer.uri() + " cannot be used now: no answer within 100"));
  }
}

TEST(ConnectionMultiplexer, ALateReplyMakesItsOutcomeUnknownAndIsNotTakenForAnother) {
  std::atomic<int> scripts = 0;
  const ScriptedPeer peer([&](const Command& command) -> std::optional<std::string> {
    if (!ScriptedPeer::is_script(command)) return ScriptedPeer::proper(command);
    const int number = ++scripts;
    if (number == 1) return "";  // no reply yet
    return number == 2 ? ":0\r\n" + busy_reply() : ":0\r\n";
  });
  Requests requests(peer.uri(), 1s);
  EXPECT_EQ(requests.execute(Verb::acquire), Kind::unknown);
  EXPECT_EQ(requests.execute(Verb::acquire), Kind::busy)
      << "it got the reply to the request before";
  EXPECT_EQ(peer.connections(), 1);
}

TEST(ConnectionMultiplexer, DriveReturnsWhenItsParkerIsUnparkedAsLeaderOrFollower) {
  const ScriptedPeer peer(ScriptedPeer::proper);
  Requests requests(peer.uri());
  std::atomic<int> returned = 0;
  std::atomic<Parker*> parkers[3] = {};
  std::vector<std::thread> threads;
  for (std::atomic<Parker*>& mine : parkers) {
    threads.emplace_back([&] {
      mine = &Parker::mine();
      requests.backend->drive(Parker::mine(), Clock::never());
      ++returned;
    });
  }
  for (std::atomic<Parker*>& each : parkers) {
    while (each == nullptr) std::this_thread::yield();
    each.load()->unpark();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(returned, 3);
}

TEST(ConnectionMultiplexer, AThreadThatSleepsInDriveDoesNotDelayOthers) {
  const ScriptedPeer peer(ScriptedPeer::proper);
  Requests requests(peer.uri());
  std::atomic<Parker*> idle = nullptr;
  std::thread waiter([&] {
    idle = &Parker::mine();
    requests.backend->drive(Parker::mine(), Clock::never());
  });
  while (idle == nullptr) std::this_thread::yield();
  for (int round = 0; round < 200; ++round)
    EXPECT_EQ(requests.execute(Verb::acquire), Kind::granted);
  idle.load()->unpark();
  waiter.join();
}

// The submitting thread does not drive the backend. Another thread delivers the outcome: with the
// reply, or at the deadline if the peer does not answer.
TEST(ConnectionMultiplexer, AnotherThreadInDriveDeliversTheOutcomeOfARequest) {
  std::atomic<bool> answers = true;
  const ScriptedPeer peer([&](const Command& command) -> std::optional<std::string> {
    if (ScriptedPeer::is_script(command) && !answers) return "";
    return ScriptedPeer::proper(command);
  });
  Requests requests(peer.uri(), 1s);
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop) requests.backend->drive(Parker::mine(), later(Clock::system().now(), 10s));
  });
  for (const bool answered : {true, false}) {
    answers = answered;
    Entry entry;
    requests.fill(entry, Verb::acquire);
    requests.submit(entry);
    while (entry.completions.load(std::memory_order_acquire) == 0)
      Parker::mine().park_until(Clock::system(), later(Clock::system().now(), 10s));
    EXPECT_EQ(entry.kind, answered ? Kind::granted : Kind::unknown);
  }
  stop = true;
  Entry last;  // ends the other thread's last call of drive
  answers = true;
  requests.fill(last, Verb::acquire);
  requests.submit(last);
  other.join();
}

TEST(ConnectionMultiplexer, RequestsHeldBackForSpinningThreadsAreSentAllTheSame) {
  const ScriptedPeer peer(ScriptedPeer::proper);
  Requests requests(peer.uri());
  std::atomic<bool> stop = false;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      while (!stop) EXPECT_EQ(requests.execute(Verb::acquire), Kind::granted);
    });
  }
  for (int round = 0; round < 300; ++round) {
    Entry entry;
    requests.fill(entry, Verb::acquire);
    requests.submit(entry);
    while (entry.completions.load(std::memory_order_acquire) == 0) {
      Parker::mine().park_until(Clock::system(), Clock::never());
    }
    EXPECT_EQ(entry.kind, Kind::granted);
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
}

TEST(ConnectionMultiplexer, ABatchLargerThanTheSocketBufferIsSentPieceByPiece) {
  const ScriptedPeer peer(ScriptedPeer::proper);
  Requests requests(peer.uri(), 10s);
  constexpr std::size_t count = 20'000;
  std::vector<Entry> entries(count);
  const std::string key(200, 'k');
  std::vector<Request*> all;
  for (Entry& entry : entries) {
    requests.fill(entry, Verb::acquire);
    entry.request.key = key;
    all.push_back(&entry.request);
  }
  requests.backend->submit(all, requests.sink);
  for (const Entry& entry : entries) requests.wait_for(entry);
  for (const Entry& entry : entries) ASSERT_EQ(entry.kind, Kind::granted);
}

}  // namespace
}  // namespace latchkey::tests
