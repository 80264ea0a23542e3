// Processes that hold permits of one semaphore and may be stopped and killed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "soak/permit_judge.hpp"
#include "soak/settings.hpp"
#include "soak/shared.hpp"

namespace latchkey::soak {

/// How much longer than `length` a wait of it took: the machine was busy.
inline std::chrono::steady_clock::duration late_wait(std::chrono::milliseconds length) {
  const auto start = std::chrono::steady_clock::now();
  ::poll(nullptr, 0, static_cast<int>(length.count()));
  return std::max(std::chrono::steady_clock::now() - start - length,
                  std::chrono::steady_clock::duration::zero());
}

/// Four processes of three threads, which take one permit or two of the semaphore "permits".
class PermitHolders {
 public:
  using Steady = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds lease{900};
  static constexpr int permits = 3;

  /// `connect`: called in each process; its Locks have `lease` as the watchdog's.
  explicit PermitHolders(std::function<Locks()> connect) : connect_(std::move(connect)) {}

  /// Calls `disturb` until the end; then all processes must have ended well.
  template <class Disturb>
  [[nodiscard]] bool run(std::chrono::milliseconds length, Disturb&& disturb) {
    end_ = Steady::now() + length;
    for (auto& each : children_) start(each);
    while (Steady::now() < end_) disturb();
    bool good = true;
    for (auto& each : children_) good = each->join() && good;
    judge->settle(permits);
    return good;
  }

  [[nodiscard]] Steady::time_point end() const noexcept { return end_; }
  [[nodiscard]] std::optional<Children>& random_child() {
    return children_[random() % children_.size()];
  }
  void kill(std::optional<Children>& child) {
    child.reset();
    start(child);
  }
  /// Shorter and longer than a lease.
  void stop_for_a_while(const Children& child) {
    const pid_t id = child.ids().front();
    ::kill(id, SIGSTOP);
    late_wait(std::chrono::milliseconds(50 + random() % 1'500));
    ::kill(id, SIGCONT);
  }
  [[nodiscard]] std::minstd_rand::result_type random() { return random_(); }

  /// After the end. Deletes the semaphore.
  static void expect_that_all_permits_are_free(const Locks& locks) {
    const Semaphore semaphore = locks.semaphore("permits", permits);
    EXPECT_TRUE(semaphore.try_acquire(permits, 2 * lease + std::chrono::seconds(1)))
        << "what the killed held is not free";
    EXPECT_EQ(semaphore.available(), permits);
    EXPECT_TRUE(semaphore.destroy());
  }

  Shared<PermitJudge> judge;

 private:
  void start(std::optional<Children>& child) {
    child.emplace();
    child->start([&] {
      const Locks locks = connect_();
      std::vector<std::thread> workers;
      for (int number = 0; number < threads; ++number) {
        workers.emplace_back([&, number] { work(locks, number); });
      }
      for (std::thread& each : workers) each.join();
    });
  }

  void work(const Locks& locks, int number) {
    using namespace std::chrono_literals;
    std::minstd_rand random(static_cast<unsigned>(::getpid() * threads + number));
    const Semaphore semaphore = locks.semaphore("permits", permits);
    while (Steady::now() < end_) {
      const std::optional<Hold> hold = try_acquire(semaphore, random);
      if (!hold) continue;
      PermitJudge::Interval* const own = judge->new_hold(hold->permits());
      const auto until = Steady::now() + std::chrono::milliseconds(random() % 30);
      const auto observe = [&] {
        if (own != nullptr) own->observe([&] { return !hold->lost(); });
      };
      do {
        observe();
        std::this_thread::sleep_for(1ms);
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

  static constexpr int threads = 3;
  const std::function<Locks()> connect_;
  std::minstd_rand random_{static_cast<unsigned>(seed())};
  Steady::time_point end_;
  std::array<std::optional<Children>, 4> children_;
};

}  // namespace latchkey::soak
