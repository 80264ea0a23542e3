// The memory backend: URIs, spaces, many threads, forks, and freed memory.
#include "memory/memory_backend.hpp"
#include "support/fork.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/testing/manual_clock.hpp>

namespace latchkey::detail {
namespace {

using std::chrono::milliseconds;
using testing::Probe;
using Kind = Outcome::Kind;

constexpr milliseconds lease = std::chrono::seconds(30);

Probe connect(std::string_view uri, const Options& options = {}) {
  return Probe(make_memory_backend(uri, options), options);
}

TEST(MemoryBackend, AnUnnamedSpaceIsPrivateAndANamedOneShared) {
  Probe one = connect("memory:"), other = connect("memory:");
  Probe shared = connect("memory:t-shared"), too = connect("memory:t-shared");
  for (Probe* probe : {&one, &other, &shared}) {
    EXPECT_EQ(probe->acquire("k", LockType::WRITE, probe->fresh_id(), lease).kind, Kind::granted);
  }
  EXPECT_EQ(too.acquire("k", LockType::WRITE, too.fresh_id(), lease).kind, Kind::busy);
  EXPECT_EQ(one.backend().describe(), "memory:");
  EXPECT_EQ(too.backend().describe(), "memory:t-shared");
}

TEST(MemoryBackend, ANamedSpaceEndsWithItsLastConnection) {
  {
    Probe one = connect("memory:t-going");
    EXPECT_EQ(one.acquire("k", LockType::WRITE, one.fresh_id(), lease).kind, Kind::granted);
  }
  Probe next = connect("memory:t-going");
  EXPECT_EQ(next.acquire("k", LockType::WRITE, next.fresh_id(), lease).kind, Kind::granted);
}

TEST(MemoryBackend, InvalidUrisAreNamed) {
  const auto message = [](std::string_view uri, const Options& options = {}) -> std::string {
    try {
      static_cast<void>(make_memory_backend(uri, options));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("memory"),
            "invalid memory URI 'memory'; expected \"memory:\" or \"memory:name\"");
  EXPECT_NE(message("memory://host"), "");
  const Probe open = connect("memory:t-clock");
  testing::ManualClock clock;
  EXPECT_EQ(message("memory:t-clock", {.clock = &clock}),
            "the space 'memory:t-clock' is open with another clock: leases need one for all");
}

TEST(MemoryBackend, ANotificationWakesASleepingDriver) {
  testing::ManualClock clock;  // which stands still: only the notification can end the drive
  const Options options{.clock = &clock};
  Probe holder = connect("memory:t-wake", options), waiter = connect("memory:t-wake", options);
  for (int round = 0; round < 200; ++round) {
    const HoldId id = holder.fresh_id();
    ASSERT_EQ(holder.acquire("k", LockType::WRITE, id, lease).kind, Kind::granted);
    ASSERT_EQ(waiter.send(Verb::subscribe, "k", LockType::WRITE).kind, Kind::granted);
    std::vector<Probe::Note> heard;
    std::thread asleep([&] {
      // A drive may end for an unpark that was meant for what its thread did before.
      while (heard.empty()) {
        waiter.backend().drive(Parker::mine(), Clock::never());
        heard = waiter.notes();
      }
    });
    // At every second round the release comes when the driver is surely asleep.
    EXPECT_TRUE(round % 2 != 0 || clock.await_sleepers(1));
    ASSERT_EQ(holder.send(Verb::release, "k", LockType::WRITE, id).kind, Kind::granted);
    asleep.join();
    EXPECT_EQ(heard.size(), 1U);
  }
}

TEST(MemoryBackend, AClosedConnectionReceivesNothingAndLeavesNothing) {
  Probe one = connect("memory:t-closed");
  const HoldId id = one.fresh_id();
  {
    Probe listener = connect("memory:t-closed");
    EXPECT_EQ(listener.send(Verb::subscribe, "k").kind, Kind::granted);
    EXPECT_EQ(memory_records(one.backend()), 1U);
  }
  EXPECT_EQ(memory_records(one.backend()), 0U);
  EXPECT_EQ(one.acquire("k", LockType::WRITE, id, lease).kind, Kind::granted);
  EXPECT_EQ(one.send(Verb::release, "k", LockType::WRITE, id).kind, Kind::granted);
  EXPECT_EQ(memory_records(one.backend()), 0U);
}

TEST(MemoryBackend, TooManyNotificationsAreReplacedByOneLinkUp) {
  Probe one = connect("memory:t-flood"), slow = connect("memory:t-flood");
  EXPECT_EQ(slow.send(Verb::subscribe, "k").kind, Kind::granted);
  for (int round = 0; round < 5'000; ++round) {
    const HoldId id = one.fresh_id();
    one.acquire("k", LockType::REENTRANT, id, lease);
    one.send(Verb::release, "k", LockType::REENTRANT, id);
  }
  const auto notes = slow.notes();
  ASSERT_EQ(notes.size(), 4'097U);
  EXPECT_EQ(notes.back().kind, Notification::Kind::link_up);
}

/// Data that only the lock guards, and how it was used.
struct Guarded {
  std::atomic<int> writers = 0, readers = 0, overlaps = 0;
  long counter = 0;  // not atomic: the lock is all that guards it
  std::atomic<long> writes = 0;

  void write() {
    if (writers.fetch_add(1) + readers.load() != 0) ++overlaps;
    ++counter;
    ++writes;
    writers.fetch_sub(1);
  }
  void read() {
    readers.fetch_add(1);
    if (writers.load() != 0) ++overlaps;
    readers.fetch_sub(1);
  }
};

void visit_key(Probe& mine, std::string_view key, LockType type, Guarded& guarded) {
  const HoldId id = mine.fresh_id();
  mine.send(Verb::subscribe, key, type, id);
  while (mine.acquire(key, type, id, lease, lease).kind != Kind::granted) {
    const auto poll = Clock::system().now() + milliseconds(50);
    mine.backend().drive(Parker::mine(), poll);
  }
  type == LockType::READ ? guarded.read() : guarded.write();
  mine.send(Verb::release, key, type, id);
  mine.send(Verb::unsubscribe, key, type, id);
}

/// One connection each, all types, few keys.
void hammer(int rounds) {
  constexpr std::array<std::string_view, 3> keys{"a", "b", "c"};
  std::array<Guarded, 3> guarded;
  Probe watcher = connect("memory:t-hammer");
  std::vector<std::thread> all;
  for (int index = 0; index < 8; ++index) {
    all.emplace_back([&, index] {
      Probe mine = connect("memory:t-hammer");
      for (int round = 0; round < rounds; ++round) {
        switch ((index + round) % 4) {
          case 0: visit_key(mine, keys[0], LockType::FENCED, guarded[0]); break;
          case 1: visit_key(mine, keys[1], LockType::FAIR, guarded[1]); break;
          case 2: visit_key(mine, keys[2], LockType::READ, guarded[2]); break;
          default: visit_key(mine, keys[2], LockType::WRITE, guarded[2]); break;
        }
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  for (const Guarded& each : guarded) {
    EXPECT_EQ(each.overlaps, 0);
    EXPECT_EQ(each.counter, each.writes);
  }
  EXPECT_EQ(memory_records(watcher.backend()), 0U);
}

TEST(MemoryBackend, ManyThreadsExcludeEachOther) { hammer(150); }

TEST(MemoryBackend, ASteadyStateAllocatesNothing) {
  Probe one = connect("memory:");
  const std::string key(64, 'k');
  const auto round = [&] {
    const HoldId id = one.fresh_id();
    one.acquire(key, LockType::FENCED, id, lease);
    one.renew(key, LockType::FENCED, id, lease);
    one.send(Verb::release, key, LockType::FENCED, id);
  };
  for (int warm = 0; warm < 1'000; ++warm) round();
  const std::size_t before = ::mallinfo2().uordblks;
  for (int steady = 0; steady < 10'000; ++steady) round();
  EXPECT_EQ(::mallinfo2().uordblks, before);
}

/// Runs `check` in a child and returns its result.
bool in_child(const std::function<bool()>& check) {
  const pid_t child = tests::fork_child();
  if (child == 0) ::_exit(check() ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(MemoryBackend, AfterAForkTheParentHoldsAndTheChildIsBusy) {
  Probe one = connect("memory:t-fork");
  const HoldId id = one.fresh_id();
  ASSERT_EQ(one.acquire("held", LockType::WRITE, id, lease).kind, Kind::granted);
  ASSERT_EQ(one.send(Verb::subscribe, "held", LockType::WRITE).kind, Kind::granted);
  std::atomic<bool> stop = false;
  std::thread busy([&] {  // so that forks come at any moment
    Probe mine = connect("memory:t-fork");
    while (!stop) {
      const HoldId each = mine.fresh_id();
      mine.acquire("other", LockType::WRITE, each, lease);
      mine.send(Verb::release, "other", LockType::WRITE, each);
    }
  });
  for (int fork = 0; fork < 20; ++fork) {
    EXPECT_TRUE(in_child([&] {
      one.backend().forget_parent();
      const HoldId mine{HoldId::new_space(), 1};
      return one.acquire("held", LockType::WRITE, mine, lease).kind == Kind::busy &&
             one.acquire("free", LockType::WRITE, mine, lease).kind == Kind::granted &&
             one.send(Verb::release, "held", LockType::WRITE, id).kind == Kind::granted &&
             one.notes().empty();  // the subscription was the parent's
    }));
  }
  stop = true;
  busy.join();
  EXPECT_EQ(one.send(Verb::release, "held", LockType::WRITE, id).kind, Kind::granted);
}

}  // namespace
}  // namespace latchkey::detail
