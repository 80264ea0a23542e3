// One connection, many threads, and a peer that cuts, delays and corrupts what it says.
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
#include <latchkey/testing/backend_contract.hpp>

#include "redis/redis_backend.hpp"
#include "scripted_peer.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using testing::Command;
using testing::ScriptedPeer;
using Entry = testing::contract::CountingSink::Entry;
using Kind = Outcome::Kind;
using SendAs = ScriptedPeer::SendAs;
using ::testing::HasSubstr;

std::string busy_answer() { return "*2\r\n:5\r\n$5\r\nowner\r\n"; }

class Requests {
 public:
  explicit Requests(const std::string& uri, std::chrono::milliseconds timeout = 2s)
      : backend(detail::redis::make_redis_backend(uri, {.command_timeout = timeout})) {}

  /// Asks, drives until it is answered, and gives the outcome.
  Kind ask(Verb verb) {
    Entry entry;
    fill(entry, verb);
    submit(entry);
    drive(entry);
    return entry.kind;
  }
  void fill(Entry& entry, Verb verb) {
    entry.request.verb = verb;
    entry.request.key = "key";
    entry.request.id = {{1, 2}, ++last_number_};
    entry.request.lease = 30s;
    entry.request.context = &entry;
    entry.request.sent = Clock::system().now();
    entry.parker = &Parker::mine();
  }
  void submit(Entry& entry) {
    Request* const one[] = {&entry.request};
    backend->submit(one, sink);
  }
  void drive(const Entry& entry) {
    while (entry.completions.load(std::memory_order_acquire) == 0) {
      backend->drive(Parker::mine(), Clock::never());
    }
  }

  const std::unique_ptr<Backend> backend;
  testing::contract::CountingSink sink;

 private:
  std::atomic<std::uint64_t> last_number_ = 0;
};

class EveryCut : public ::testing::TestWithParam<SendAs> {};

TEST_P(EveryCut, ManyThreadsGetTheirOwnAnswers) {
  // The answer tells which request it is for: REENTRANT is granted with the token asked for.
  const ScriptedPeer peer(
      [](const Command& command) -> std::optional<std::string> {
        if (!ScriptedPeer::is_script(command)) return ScriptedPeer::proper(command);
        const std::string& owner = command[5];
        const bool even = (owner.back() - '0') % 2 == 0;
        return even ? ":0\r\n" : busy_answer();
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
        requests.drive(entry);
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

TEST(ConnectionMultiplexer, AnAnswerThatEndsHalfwayIsUnknownAndTheNextConnectionServes) {
  std::atomic<bool> cut = true;
  const ScriptedPeer peer([&](const Command& command) -> std::optional<std::string> {
    if (ScriptedPeer::is_script(command) && cut.exchange(false)) return std::nullopt;
    return ScriptedPeer::proper(command);
  });
  Requests requests(peer.uri());
  EXPECT_EQ(requests.ask(Verb::acquire), Kind::unknown);
  EXPECT_EQ(requests.ask(Verb::acquire), Kind::granted);
  EXPECT_EQ(peer.connections(), 2);
}

TEST(ConnectionMultiplexer, BytesWithoutSenseAreUnknownAndTheNextConnectionServes) {
  std::atomic<bool> garbage = true;
  const ScriptedPeer peer([&](const Command& command) -> std::optional<std::string> {
    if (ScriptedPeer::is_script(command) && garbage.exchange(false)) return "!?\r\n:0\r\n";
    return ScriptedPeer::proper(command);
  });
  Requests requests(peer.uri());
  EXPECT_EQ(requests.ask(Verb::acquire), Kind::unknown);
  EXPECT_EQ(requests.ask(Verb::acquire), Kind::granted);
}

// Whatever a peer sends, each request ends, and ends once.
TEST(ConnectionMultiplexer, CorruptedAnswersNeverHangNorAnswerTwice) {
  std::minstd_rand chance{7};
  const ScriptedPeer peer(
      [&](const Command& command) -> std::optional<std::string> {
        std::string answer = ScriptedPeer::proper(command);
        if (!ScriptedPeer::is_script(command)) return answer;
        if (chance() % 3 == 0) answer = busy_answer();
        for (int change = 0; change < 2; ++change) {
          if (chance() % 2 == 0) answer[chance() % answer.size()] = static_cast<char>(chance());
        }
        if (chance() % 8 == 0) answer += ":1\r\n";
        return answer;
      },
      SendAs::random_pieces);
  Requests requests(peer.uri(), 20ms);
  for (int round = 0; round < 300; ++round) {
    Entry entries[3];
    for (Entry& entry : entries) {
      requests.fill(entry, Verb::acquire);
      requests.submit(entry);
    }
    for (Entry& entry : entries) requests.drive(entry);
    for (const Entry& entry : entries) ASSERT_EQ(entry.completions, 1);
  }
}

TEST(ConnectionMultiplexer, ASilentPeerEndsTheStartWithASentence) {
  const ScriptedPeer peer([](const Command&) -> std::optional<std::string> { return ""; });
  try {
    Requests requests(peer.uri(), 100ms);
    FAIL() << "started";
  } catch (const BackendUnavailable& error) {
    EXPECT_THAT(error.what(), HasSubstr(peer.uri() + " cannot be used now: no answer within 100"));
  }
}

TEST(ConnectionMultiplexer, AnAnswerThatComesTooLateIsUnknownAndHarmsNobody) {
  std::atomic<int> asked = 0;
  const ScriptedPeer peer([&](const Command& command) -> std::optional<std::string> {
    if (!ScriptedPeer::is_script(command)) return ScriptedPeer::proper(command);
    const int number = ++asked;
    if (number == 1) return "";  // kept back
    return number == 2 ? ":0\r\n" + busy_answer() : ":0\r\n";
  });
  Requests requests(peer.uri(), 200ms);
  EXPECT_EQ(requests.ask(Verb::acquire), Kind::unknown);
  EXPECT_EQ(requests.ask(Verb::acquire), Kind::busy) << "it got the answer of the one before";
  EXPECT_EQ(peer.connections(), 1);
}

TEST(ConnectionMultiplexer, ADriverLeavesWhenItsParkerIsUnparkedAsleepInPollOrNot) {
  const ScriptedPeer peer(ScriptedPeer::proper);
  Requests requests(peer.uri());
  std::atomic<int> back = 0;
  std::atomic<Parker*> parkers[3] = {};
  std::vector<std::thread> threads;
  for (std::atomic<Parker*>& mine : parkers) {
    threads.emplace_back([&] {
      mine = &Parker::mine();
      requests.backend->drive(Parker::mine(), Clock::never());
      ++back;
    });
  }
  for (std::atomic<Parker*>& each : parkers) {
    while (each == nullptr) std::this_thread::yield();
    each.load()->unpark();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(back, 3);
}

TEST(ConnectionMultiplexer, AThreadThatSleepsInDriveDoesNotDelayAnotherOnesAnswer) {
  const ScriptedPeer peer(ScriptedPeer::proper);
  Requests requests(peer.uri());
  std::atomic<Parker*> idle = nullptr;
  std::thread waiter([&] {
    idle = &Parker::mine();
    requests.backend->drive(Parker::mine(), Clock::never());
  });
  while (idle == nullptr) std::this_thread::yield();
  for (int round = 0; round < 200; ++round) EXPECT_EQ(requests.ask(Verb::acquire), Kind::granted);
  idle.load()->unpark();
  waiter.join();
}

// One submits and leaves; whoever drives delivers it, and it is on time even if nobody answers.
TEST(ConnectionMultiplexer, WhatNobodyWaitsForIsDeliveredByWhoeverDrives) {
  std::atomic<bool> answers = true;
  const ScriptedPeer peer([&](const Command& command) -> std::optional<std::string> {
    if (ScriptedPeer::is_script(command) && !answers) return "";
    return ScriptedPeer::proper(command);
  });
  Requests requests(peer.uri(), 300ms);
  std::atomic<bool> ends = false;
  std::thread driver([&] {
    while (!ends) requests.backend->drive(Parker::mine(), later(Clock::system().now(), 10s));
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
  ends = true;
  Entry last;  // wakes the driver once more
  answers = true;
  requests.fill(last, Verb::acquire);
  requests.submit(last);
  driver.join();
}

TEST(ConnectionMultiplexer, WhatIsHeldBackForThoseWhoSpinGoesOutAllTheSame) {
  const ScriptedPeer peer(ScriptedPeer::proper);
  Requests requests(peer.uri());
  std::atomic<bool> ends = false;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      while (!ends) EXPECT_EQ(requests.ask(Verb::acquire), Kind::granted);
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
  ends = true;
  for (std::thread& caller : callers) caller.join();
}

TEST(ConnectionMultiplexer, ABatchBeyondWhatTheSocketTakesGoesOutPieceByPiece) {
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
  for (const Entry& entry : entries) requests.drive(entry);
  for (const Entry& entry : entries) ASSERT_EQ(entry.kind, Kind::granted);
}

}  // namespace
}  // namespace latchkey::tests
