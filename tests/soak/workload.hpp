// Many threads that lock many keys by lock(), try_lock_for() and acquire(), nested and as other
// owners.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "soak/judge.hpp"

namespace latchkey::soak {

using namespace std::chrono_literals;

/// The longest wait for each type, and the outcomes of visits.
struct Statistics {
  std::array<std::atomic<std::int64_t>, 5> longest_wait{};  // ns
  std::array<std::atomic<std::uint64_t>, 5> visits{};
  std::atomic<std::uint64_t> gave_up{0};
  std::atomic<std::uint64_t> lost{0};
  std::atomic<std::uint64_t> unavailable{0};

  void waited(LockType type, std::chrono::nanoseconds length) {
    const auto index = static_cast<std::size_t>(type);
    visits[index].fetch_add(1, std::memory_order_relaxed);
    std::int64_t seen = longest_wait[index].load(std::memory_order_relaxed);
    while (length.count() > seen &&
           !longest_wait[index].compare_exchange_weak(seen, length.count())) {
    }
  }
};

inline void print_statistics(const Statistics& statistics) {
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE, LockType::FENCED}) {
    const auto index = static_cast<std::size_t>(type);
    std::printf("%-9s %9llu visits, longest wait %8.2f ms\n", std::string(to_string(type)).c_str(),
                static_cast<unsigned long long>(statistics.visits[index].load()),
                static_cast<double>(statistics.longest_wait[index].load()) / 1e6);
  }
  std::printf("gave up %llu, lost %llu, unavailable %llu\n",
              static_cast<unsigned long long>(statistics.gave_up.load()),
              static_cast<unsigned long long>(statistics.lost.load()),
              static_cast<unsigned long long>(statistics.unavailable.load()));
}

/// How many calls may not be answered although nothing is disturbed.
inline constexpr std::uint64_t most_unavailable = 20;

/// The Locks for FAIR keys and for all other keys. Both may be the same.
struct LocksByType {
  Locks plain;
  Locks fair;
  [[nodiscard]] const Locks& of(LockType type) const {
    return type == LockType::FAIR ? fair : plain;
  }
};

struct Size {
  int threads = 64;
  std::size_t keys = Judge::key_count;
  /// Long enough for a slow machine or ThreadSanitizer: no hold may be lost.
  std::chrono::milliseconds lease = 60s;
  /// Servers fail during the run, so BackendUnavailable is expected.
  bool disturbed = false;
};

class Workload {
 public:
  /// Null `locks_by_type`: the same visits without any lock.
  Workload(const LocksByType* locks_by_type, Judge& judge, Statistics& statistics,
           std::uint64_t seed, Size size = {})
      : locks_(locks_by_type), judge_(judge), statistics_(statistics), seed_(seed), size_(size) {}

  /// Runs all threads for `length` and joins them.
  void run(std::chrono::milliseconds length) {
    ++rounds_;
    const auto end = std::chrono::steady_clock::now() + length;
    std::vector<std::thread> threads;
    for (int number = 0; number < size_.threads; ++number) {
      threads.emplace_back([this, number, end] { run_thread(number, end); });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  using Random = std::minstd_rand;

  void run_thread(int number, std::chrono::steady_clock::time_point end) {
    Random random(static_cast<Random::result_type>(seed_ + 1'000 * rounds_ +
                                                   static_cast<std::uint64_t>(number)));
    for (int round = 0; round % 16 != 0 || std::chrono::steady_clock::now() < end; ++round) {
      // Half of the visits go to five keys, so that threads have to wait.
      const std::size_t key = random() % 2 == 0 ? random() % 5 : random() % size_.keys;
      try {
        visit(key, random);
      } catch (const BackendUnavailable&) {
        // A call says so, too, if the thread in front of it gets no processor for its grace.
        if (++statistics_.unavailable > most_unavailable && !size_.disturbed) throw;
      }
    }
  }

  void visit(std::size_t key, Random& random) {
    LockType type = type_of(key);
    if (type == LockType::READ && random() % 4 == 0) type = LockType::WRITE;
    if (locks_ == nullptr) return enter(key, type, 0);
    Lock lock = locks_->of(type).lock("key:" + std::to_string(key), type);
    switch (random() % 8) {
      case 0: return by_hold(key, lock, random);
      case 1: return by_timed_attempt(key, lock, random);
      case 2: return by_hold_of_another_owner(key, type);
      default: break;
    }
    const auto started = std::chrono::steady_clock::now();
    const std::scoped_lock guard{lock};
    statistics_.waited(type, std::chrono::steady_clock::now() - started);
    if (type == LockType::WRITE && random() % 4 == 0) {
      Lock inner = locks_->of(type).lock("key:" + std::to_string(key), LockType::READ);
      const std::scoped_lock again{inner};
      return enter(key, type, 0);
    }
    if (random() % 8 == 0) {
      const std::scoped_lock again{lock};
      return enter(key, type, 0);
    }
    enter(key, type, 0);
  }

  void by_hold(std::size_t key, Lock& lock, Random& random) {
    const auto started = std::chrono::steady_clock::now();
    Hold hold = lock.acquire(forever, size_.lease);
    statistics_.waited(lock.type(), std::chrono::steady_clock::now() - started);
    enter(key, lock.type(), hold.fencing_token().value_or(0));
    if (random() % 8 == 0) hold.hold_for(1ms);
    const bool ours = hold.release();
    if (!ours) ++statistics_.lost;
  }

  void by_timed_attempt(std::size_t key, Lock& lock, Random& random) {
    const auto started = std::chrono::steady_clock::now();
    if (!lock.try_lock_for(std::chrono::microseconds(random() % 3'000))) {
      ++statistics_.gave_up;
      return;
    }
    statistics_.waited(lock.type(), std::chrono::steady_clock::now() - started);
    enter(key, lock.type(), 0);
    lock.unlock();
  }

  void by_hold_of_another_owner(std::size_t key, LockType type) {
    Lock lock = locks_->of(type).with_owner(Owner::make()).lock("key:" + std::to_string(key), type);
    const auto started = std::chrono::steady_clock::now();
    const Hold hold = lock.acquire(forever);
    statistics_.waited(type, std::chrono::steady_clock::now() - started);
    enter(key, type, hold.fencing_token().value_or(0));
  }

  void enter(std::size_t key, LockType type, std::uint64_t token) {
    if (is_shared(type)) {
      judge_.visit_shared(key, locks_ != nullptr);
    } else {
      judge_.visit_alone(key, token, locks_ != nullptr);
    }
  }

  const LocksByType* const locks_;
  Judge& judge_;
  Statistics& statistics_;
  const std::uint64_t seed_;
  const Size size_;
  std::uint64_t rounds_ = 0;
};

}  // namespace latchkey::soak
