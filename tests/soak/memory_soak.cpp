// Many threads and keys with every lock type on the memory backend.
#include <gtest/gtest.h>

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "memory/memory_backend.hpp"
#include "soak/fair_trace.hpp"
#include "soak/settings.hpp"
#include "soak/workload.hpp"

namespace latchkey::soak {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#else
constexpr bool sanitized = false;
#endif

/// Allocated bytes; 0 under a sanitizer, which has its own heap.
std::size_t heap_in_use() { return sanitized ? 0 : ::mallinfo2().uordblks; }

/// Waits until the holds that hold_for keeps have ended. False if that takes 10 s.
bool empties(const Locks& locks) {
  for (int round = 0; round < 2'000 && !locks.list().empty(); ++round) {
    // sleeps: a hold that hold_for keeps ends without an event for others
    std::this_thread::sleep_for(5ms);
  }
  return locks.list().empty();
}

TEST(MemorySoak, ThreadsLoseNoUpdateAndLeaveNothing) {
  const std::chrono::milliseconds length = length_of_soak();
  const std::chrono::milliseconds until_sample =
      std::min(length / 3, std::chrono::milliseconds(10s));
  FairTrace trace;
  Judge judge;
  Statistics statistics;
  constexpr std::size_t most_growth = 64 * 1'024;
  std::size_t heap_early = 0, heap_late = 0;
  {
    std::unique_ptr<Backend> made = detail::make_memory_backend("memory:soak", {});
    Backend& backend = *made;
    const LocksByType locks_by_type{Locks{std::move(made)},
                                    Locks::connect("memory:soak", {.listener = &trace})};
    Workload workload(&locks_by_type, judge, statistics, seed_of_soak());
    workload.run(until_sample);
    EXPECT_TRUE(empties(locks_by_type.plain));
    std::this_thread::sleep_for(50ms);  // sleeps: the notifier thread delivers the last events
    // A queue that grows once under load is not a leak: a leak grows in every phase.
    const auto grows = [&] {
      heap_early = heap_in_use();
      workload.run(length - until_sample);
      EXPECT_TRUE(empties(locks_by_type.plain));
      std::this_thread::sleep_for(50ms);  // sleeps: the notifier thread delivers the last events
      heap_late = heap_in_use();
      return heap_late > heap_early + most_growth;
    };
    for (int phase = 1; grows() && phase < 3; ++phase) {
    }
    EXPECT_EQ(detail::memory_records(backend), 0U);
  }
  judge.settle();
  print_statistics(statistics);
  std::printf("FAIR trace: %llu grants, %llu after a wait, %llu events dropped\n",
              static_cast<unsigned long long>(trace.grants),
              static_cast<unsigned long long>(trace.waited),
              static_cast<unsigned long long>(trace.dropped));
  std::printf("heap in use: %zu then %zu bytes\n", heap_early, heap_late);

  EXPECT_EQ(judge.violations.overlaps, 0U);
  EXPECT_EQ(judge.violations.torn_reads, 0U);
  EXPECT_EQ(judge.violations.lost_updates, 0U);
  EXPECT_EQ(judge.violations.stale_tokens, 0U);
  EXPECT_EQ(statistics.lost, 0U);
  EXPECT_EQ(trace.disorder, 0U);
  EXPECT_GT(trace.grants, 0U);
  EXPECT_LE(heap_late, heap_early + most_growth);
}

// The control: without locks the same judge must detect violations.
TEST(MemorySoak, JudgeDetectsOverlapsWithoutALock) {
  Judge judge;
  Statistics statistics;
  Workload workload(nullptr, judge, statistics, seed_of_soak());
  const auto found = [&] {
    judge.settle();
    return judge.violations.overlaps > 0 && judge.violations.lost_updates > 0 &&
           judge.violations.torn_reads > 0;
  };
  for (int round = 0; round < 100 && !found(); ++round) workload.run(100ms);
  EXPECT_GT(judge.violations.overlaps, 0U);
  EXPECT_GT(judge.violations.lost_updates, 0U);
  EXPECT_GT(judge.violations.torn_reads, 0U);
}

}  // namespace
}  // namespace latchkey::soak
