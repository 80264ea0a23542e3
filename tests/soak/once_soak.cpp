// OncePer in four processes with wrong clocks, which are stopped and killed; their Redis server is
// flushed.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/once_per.hpp>

#include "soak/once_judge.hpp"
#include "soak/processes.hpp"
#include "soak/settings.hpp"
#include "soak/shared.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::soak {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using tests::RedisServer;
using Steady = std::chrono::steady_clock;

/// The system's clock with a wrong time of day.
class WrongClock final : public Clock {
 public:
  explicit WrongClock(milliseconds error) : error_(error) {}
  [[nodiscard]] time_point now() const noexcept override { return Clock::system().now(); }
  [[nodiscard]] time_point recent() const noexcept override { return Clock::system().recent(); }
  [[nodiscard]] std::chrono::system_clock::time_point wall() const noexcept override {
    return std::chrono::system_clock::now() + error_;
  }
  void wait_until(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
                  time_point deadline) override {
    Clock::system().wait_until(lock, condition, deadline);
  }

 private:
  milliseconds error_;
};

class DisturbedJobs {
 public:
  static constexpr milliseconds period = 400ms, lease = 300ms, error = 120ms;

  DisturbedJobs(const RedisServer& server, const OncePerOptions& options)
      : server_(server), options_(options) {}

  void run(milliseconds length, bool disturbed = true) {
    EXPECT_TRUE(processes.run(length, [&] { disturbed ? disturb_one() : wait_a_little(); }));
    judge->settle();
    std::printf(
        "%d stops, %d kills, %d flushes, %zu runs, %zu done; of one instant: %zu pairs, "
        "%zu overlap, %zu repeat; %zu after a flush\n",
        processes.stops, processes.kills, flushes, judge->runs, judge->done, judge->pairs,
        judge->overlaps, judge->repeats, judge->excused);
  }

  Shared<OnceJudge> judge;
  Processes processes{[this](std::size_t number, unsigned seed) { work(number, seed); }};
  int flushes = 0;

 private:
  static void wait_a_little() { late_wait(10ms); }

  void disturb_one() {
    processes.wait(20ms, 220ms);
    switch (processes.random() % 16) {
      case 0: return flush();
      case 1:
      case 2:
      case 3:
      case 4: return processes.kill_one();
      default: return processes.stop_one(20ms, 1'020ms);  // shorter and longer than a period
    }
  }

  void flush() {
    const auto from = Steady::now();
    server_.client()({"FLUSHALL"});
    judge->note_flush(from);
    ++flushes;
  }

  void work(std::size_t number, unsigned seed) {
    WrongClock clock(errors_[number]);
    const Locks locks = Locks::connect(server_.tcp_uri(), {.watchdog = lease, .clock = &clock});
    const OncePer job = locks.once_per("soak", period, options_);
    std::minstd_rand random(seed);
    while (Steady::now() < processes.end()) {
      OnceJudge::Run* run = nullptr;
      try {
        const OnceReport report = job.run([&](const OnceRun& mine) {
          run = judge->new_run(mine.instant);
          do_work(mine, run, random);
        });
        if (report && run != nullptr) run->note_done();
      } catch (const std::runtime_error&) {
        // The body threw, its lock was lost, or the server's reply did not come.
      }
      // sleeps: callers come at random times
      std::this_thread::sleep_for(milliseconds(1 + random() % 10));
    }
  }

  void do_work(const OnceRun& mine, OnceJudge::Run* run, std::minstd_rand& random) const {
    const auto until = Steady::now() + milliseconds(random() % 150);
    const auto observe = [&] {
      if (run != nullptr) run->observe([&] { return mine.lost(); });
    };
    while (Steady::now() < until) {
      observe();
      std::this_thread::sleep_for(1ms);  // sleeps: the run is observed all the time
    }
    observe();  // also if the process was stopped until now
    if (judge->begun() % 4 == 0) throw std::runtime_error("one of the failures");
  }

  const RedisServer& server_;
  OncePerOptions options_;
  std::array<milliseconds, 4> errors_{-error, error, 0ms, -error / 2};
};

TEST(OnceSoak, NoInstantIsRunAfterItWasDone) {
  const RedisServer server;
  DisturbedJobs jobs(server, {.clock_error = DisturbedJobs::error, .wait = 100ms});
  jobs.run(length_of_soak());
  EXPECT_EQ(jobs.judge->overlaps, 0U);
  EXPECT_EQ(jobs.judge->repeats, 0U);
  EXPECT_GT(jobs.judge->done, 3U);
  EXPECT_GT(jobs.judge->pairs, 0U) << "no failed run was repeated: nothing was judged";
}

TEST(OnceSoak, NoInstantIsBegunTwiceIfItIsSkippedOnFailure) {
  const RedisServer server;
  DisturbedJobs jobs(server,
                     {.clock_error = DisturbedJobs::error, .on_failure = OnFailure::skip_instant});
  jobs.run(length_of_soak());
  EXPECT_EQ(jobs.judge->pairs, 0U);
  EXPECT_GT(jobs.judge->done, 3U);
  late_wait(2 * (DisturbedJobs::period + 2 * DisturbedJobs::error));
  EXPECT_TRUE(Locks::connect(server.tcp_uri()).list().empty()) << "a key was left";
}

// The control: the judge detects what a bound that is too small allows.
TEST(OnceSoak, ClocksThatAreWorseThanTheirBoundRunInstantsTwice) {
  const RedisServer server;
  DisturbedJobs jobs(server, {.clock_error = 0ms, .on_failure = OnFailure::skip_instant});
  jobs.run(4s, false);
  EXPECT_GT(jobs.judge->pairs, 0U);
}

TEST(OnceJudgeTest, DetectsOverlapsAndRepeats) {
  const Shared<OnceJudge> shared;
  const OnceJudge::Wall instant{};
  const auto believe = [](OnceJudge::Run* run) {
    run->observe([] { return false; });
    late_wait(1ms);
    run->observe([] { return false; });
  };
  OnceJudge::Run* const one = shared->new_run(instant);
  believe(one);
  OnceJudge::Run* const other = shared->new_run(instant);
  believe(other);
  believe(one);  // it still believes
  one->note_done();
  late_wait(1ms);
  believe(other);  // so does this one
  believe(shared->new_run(instant + 1s));
  shared->settle();
  EXPECT_EQ(shared->runs, 3U);
  EXPECT_EQ(shared->pairs, 1U);
  EXPECT_EQ(shared->overlaps, 1U);
  EXPECT_EQ(shared->repeats, 1U);
}

}  // namespace
}  // namespace latchkey::soak
