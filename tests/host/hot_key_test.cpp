// Processes that all want one key, all the time: what each of them gets, and how long it waits.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>

#include <latchkey/clock.hpp>
#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/loop_driver.hpp>

#include "host/holder_process.hpp"
#include "host/host_fixture.hpp"
#include "host/killed_workers.hpp"
#include "host/peers.hpp"
#include "host/segment/segment_file.hpp"
#include "host/segment_check.hpp"
#include "support/fork.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr std::size_t processes = 4, seconds = 3;

struct Results {
  std::atomic<bool> go;
  std::atomic<std::uint64_t> ready, inside, overlaps;
  struct Process {
    std::array<std::uint64_t, seconds> grants;
    std::uint64_t longest_us;
  };
  std::array<Process, processes> by;
};

void want_the_key(const TestSegment& segment, LockType type, Results& results, std::size_t own) {
  const Locks locks = Locks::connect(segment.uri());
  Lock lock = locks.lock("hot", type);
  ++results.ready;
  while (!results.go) std::this_thread::yield();
  Results::Process& mine = results.by[own];
  const auto begun = Steady::now();
  auto released = begun;
  for (std::size_t second = 0; second < seconds;) {
    lock.lock();
    const auto granted = Steady::now();
    if (results.inside++ != 0) ++results.overlaps;
    --results.inside;
    lock.unlock();
    mine.longest_us =
        std::max(mine.longest_us, static_cast<std::uint64_t>((granted - released) / 1us));
    ++mine.grants[second];
    released = Steady::now();
    second = static_cast<std::size_t>((released - begun) / 1s);
  }
}

class HostHotKey : public ::testing::TestWithParam<LockType> {};

TEST_P(HostHotKey, EachProcessGetsAQuarterOfItsEvenShare) {
  const TestSegment segment;
  const SharedObject<Results> shared;
  Results& results = *shared;
  std::array<pid_t, processes> children{};
  for (std::size_t own = 0; own < processes; ++own) {
    children[own] = fork_child();
    if (children[own] == 0) {
      want_the_key(segment, GetParam(), results, own);
      ::_exit(0);
    }
  }
  while (results.ready < processes) std::this_thread::yield();
  results.go = true;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(results.overlaps, 0U);
  for (std::size_t second = 0; second < seconds; ++second) {
    std::uint64_t sum = 0, least = UINT64_MAX;
    for (const Results::Process& each : results.by) {
      sum += each.grants[second];
      least = std::min(least, each.grants[second]);
    }
    EXPECT_GE(least * processes * 4, sum) << "in second " << second;
    std::printf("second %zu: %llu grants, the least of a process is %llu\n", second,
                static_cast<unsigned long long>(sum), static_cast<unsigned long long>(least));
  }
  // Four turns of a millisecond, and what a busy machine adds.
  for (const Results::Process& each : results.by) {
    EXPECT_LT(each.longest_us, 500'000U);
    std::printf("longest wait: %llu us\n", static_cast<unsigned long long>(each.longest_us));
  }
  EXPECT_EQ(detail::host::check_segment(segment.place()), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Host, HostHotKey,
                         ::testing::Values(LockType::REENTRANT, LockType::WRITE, LockType::FENCED),
                         [](const auto& one) { return std::string(to_string(one.param)); });

// A turn that nobody uses ends with it: the key is not left free while somebody waits.
TEST(HostTurns, AProcessThatIsAwaitedNoLongerKeepsNobodyWaiting) {
  const TestSegment segment;
  Locks locks = Locks::connect(segment.uri());
  HolderProcess other(segment.uri(), [](Locks& own) {
    std::thread([own] {
      Lock lock = own.lock("k");
      for (;;) {
        lock.lock();
        lock.unlock();
        std::this_thread::sleep_for(100us);  // sleeps: the key is free now and then
      }
    }).detach();
  });
  Lock lock = locks.lock("k");
  for (int round = 0; round < 200; ++round) {
    const auto asked = Steady::now();
    lock.lock();
    EXPECT_LT(Steady::now() - asked, 500ms);
    lock.unlock();
  }
}

/// The system clock, which counts how often it is read while the segment's lock is held.
class CountingClock final : public Clock {
 public:
  explicit CountingClock(const TestSegment& segment)
      : file_(detail::host::SegmentFile::open(segment.place())) {}

  [[nodiscard]] time_point now() const noexcept override {
    if (file_.layout().header.lock.load() != 0) ++reads_;
    return system().now();
  }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
                  time_point deadline) override {
    system().wait_until(lock, condition, deadline);
  }
  [[nodiscard]] int reads_with_lock() const noexcept { return reads_; }

 private:
  const detail::host::SegmentFile file_;
  mutable std::atomic<int> reads_ = 0;
};

// A release that read the time before it waited for the segment's lock left the lock free after the
// end of a turn, which the first in line had noticed meanwhile: everybody who waited did so until
// that one tried again, half a second or a second later.
TEST(HostTurns, AReleaseReadsTheTimeWithTheSegmentsLock) {
  const TestSegment segment;
  CountingClock clock(segment);
  testing::Probe probe(segment.backend({.clock = &clock}), {});
  const HoldId id = probe.fresh_id();
  ASSERT_EQ(probe.acquire("k", LockType::FENCED, id, 30s).kind, Outcome::Kind::granted);
  const int before = clock.reads_with_lock();
  EXPECT_EQ(probe.send(Verb::release, "k", LockType::FENCED, id).kind, Outcome::Kind::granted);
  EXPECT_GT(clock.reads_with_lock(), before);
}

// A process that wakes another one may write the byte when that one has looked already.
TEST(HostWakeUps, AByteThatComesLateWakesOnce) {
  const TestSegment segment;
  const std::unique_ptr<Backend> backend = segment.backend();
  const std::unique_ptr<LoopDriver> loop = backend->make_loop_driver();
  loop->join();
  loop->drive();
  const auto is_readable = [&] {
    pollfd asked{.fd = loop->descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&asked, 1, 0) == 1;
  };
  EXPECT_FALSE(is_readable());
  const detail::host::SegmentFile file = detail::host::SegmentFile::open(segment.place());
  const std::uint64_t name = file.layout().slots[0].name;
  std::ofstream(detail::host::FifoPaths(segment.path(), name).wake) << '!';
  EXPECT_TRUE(is_readable());
  loop->drive();
  EXPECT_FALSE(is_readable());
  loop->leave();
}

}  // namespace
}  // namespace latchkey::tests
