// Processes that hold permits of one semaphore and may be stopped and killed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "soak/permit_judge.hpp"
#include "soak/processes.hpp"
#include "soak/shared.hpp"

namespace latchkey::soak {

/// Four processes of three threads, which take one permit or two of the semaphore "permits".
class PermitHolders {
 public:
  using Steady = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds lease{900};
  static constexpr int permits = 3;

  /// `connect`: called in each process; its Locks have `lease` as the watchdog's.
  explicit PermitHolders(std::function<Locks()> connect) : connect_(std::move(connect)) {}

  /// As Processes::run.
  template <class Disturb>
  [[nodiscard]] bool run(std::chrono::milliseconds length, Disturb&& disturb) {
    const bool good = processes.run(length, std::forward<Disturb>(disturb));
    judge->settle(permits);
    return good;
  }
  /// For a time that is shorter or longer than a lease.
  void stop_one() {
    processes.stop_one(std::chrono::milliseconds(50), std::chrono::milliseconds(1'550));
  }

  /// After the end. Deletes the semaphore.
  static void expect_that_all_permits_are_free(const Locks& locks) {
    const Semaphore semaphore = locks.semaphore("permits", permits);
    EXPECT_TRUE(semaphore.try_acquire(permits, 2 * lease + std::chrono::seconds(1)))
        << "what the killed held is not free";
    EXPECT_EQ(semaphore.available(), permits);
    EXPECT_TRUE(semaphore.destroy());
  }

  Shared<PermitJudge> judge;
  Processes processes{[this](std::size_t, unsigned seed) { work_in_threads(seed); }};

 private:
  void work_in_threads(unsigned seed) {
    const Locks locks = connect_();
    std::vector<std::thread> workers;
    for (unsigned number = 0; number < threads; ++number) {
      workers.emplace_back([&, number] { work(locks, seed + number); });
    }
    for (std::thread& each : workers) each.join();
  }

  void work(const Locks& locks, unsigned seed) {
    using namespace std::chrono_literals;
    std::minstd_rand random(seed);
    const Semaphore semaphore = locks.semaphore("permits", permits);
    while (Steady::now() < processes.end()) {
      const std::optional<Hold> hold = try_acquire(semaphore, random);
      if (!hold) continue;
      PermitJudge::Interval* const own = judge->new_hold(hold->permits());
      const auto until = Steady::now() + std::chrono::milliseconds(random() % 30);
      const auto observe = [&] {
        if (own != nullptr) own->observe([&] { return !hold->lost(); });
      };
      do {
        observe();
        std::this_thread::sleep_for(1ms);  // sleeps: the permits are observed all the time
      } while (!hold->lost() && Steady::now() < until);
      observe();  // also if the process was stopped until now, and others have the permits
    }
  }

  static std::optional<Hold> try_acquire(const Semaphore& semaphore, std::minstd_rand& random) {
    const int taken = random() % 4 == 0 ? 2 : 1;
    try {
      return semaphore.try_acquire(taken, std::chrono::milliseconds(500),
                                   random() % 2 == 0 ? Lease(watchdog) : Lease(lease));
    } catch (const BackendUnavailable&) {
      return std::nullopt;  // the process, or the server, was stopped until the end of its wait
    }
  }

  static constexpr unsigned threads = 3;
  const std::function<Locks()> connect_;
};

}  // namespace latchkey::soak
