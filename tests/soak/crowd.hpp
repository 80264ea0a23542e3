// Many threads that lock many keys in every way that latchkey offers.
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
struct Tally {
  std::array<std::atomic<std::int64_t>, 5> longest_wait{};  // ns
  std::array<std::atomic<std::uint64_t>, 5> visits{};
  std::atomic<std::uint64_t> gave_up{0};
  std::atomic<std::uint64_t> lost{0};
  std::atomic<std::uint64_t> unavailable{0};

  void waited(LockType type, std::chrono::nanoseconds length) {
    const auto place = static_cast<std::size_t>(type);
    visits[place].fetch_add(1, std::memory_order_relaxed);
    std::int64_t seen = longest_wait[place].load(std::memory_order_relaxed);
    while (length.count() > seen &&
           !longest_wait[place].compare_exchange_weak(seen, length.count())) {
    }
  }
};

inline void print(const Tally& tally) {
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE, LockType::FENCED}) {
    const auto place = static_cast<std::size_t>(type);
    std::printf("%-9s %9llu visits, longest wait %8.2f ms\n", std::string(to_string(type)).c_str(),
                static_cast<unsigned long long>(tally.visits[place].load()),
                static_cast<double>(tally.longest_wait[place].load()) / 1e6);
  }
  std::printf("gave up %llu, lost %llu, unavailable %llu\n",
              static_cast<unsigned long long>(tally.gave_up.load()),
              static_cast<unsigned long long>(tally.lost.load()),
              static_cast<unsigned long long>(tally.unavailable.load()));
}

/// The Locks of FAIR keys and of all others, which may be the same.
struct Places {
  Locks plain;
  Locks fair;
  [[nodiscard]] const Locks& of(LockType type) const {
    return type == LockType::FAIR ? fair : plain;
  }
};

struct Size {
  int threads = 64;
  std::size_t keys = Judge::rooms;
  /// Long enough for a slow machine and for ThreadSanitizer.
  std::chrono::milliseconds lease = 60s;
  /// Servers restart, so BackendUnavailable is expected.
  bool disturbed = false;
};

class Crowd {
 public:
  /// Null `places`: the same visits without any lock.
  Crowd(const Places* places, Judge& judge, Tally& tally, std::uint64_t seed, Size size = {})
      : places_(places), judge_(judge), tally_(tally), seed_(seed), size_(size) {}

  /// Runs all threads for `length` and joins them.
  void run(std::chrono::milliseconds length) {
    ++rounds_;
    const auto end = std::chrono::steady_clock::now() + length;
    std::vector<std::thread> crowd;
    for (int number = 0; number < size_.threads; ++number) {
      crowd.emplace_back([this, number, end] { walk(number, end); });
    }
    for (std::thread& thread : crowd) thread.join();
  }

 private:
  using Random = std::minstd_rand;

  void walk(int number, std::chrono::steady_clock::time_point end) {
    Random random(static_cast<Random::result_type>(seed_ + 1'000 * rounds_ +
                                                   static_cast<std::uint64_t>(number)));
    for (int round = 0; round % 16 != 0 || std::chrono::steady_clock::now() < end; ++round) {
      // Half of the visits go to five keys, so that threads have to wait.
      const std::size_t key = random() % 2 == 0 ? random() % 5 : random() % size_.keys;
      try {
        visit(key, random);
      } catch (const BackendUnavailable&) {
        if (!size_.disturbed) throw;
        ++tally_.unavailable;
      }
    }
  }

  void visit(std::size_t key, Random& random) {
    LockType type = type_of(key);
    if (type == LockType::READ && random() % 4 == 0) type = LockType::WRITE;
    if (places_ == nullptr) return enter(key, type, 0);
    Lock lock = places_->of(type).lock("key:" + std::to_string(key), type);
    switch (random() % 8) {
      case 0: return by_hold(key, lock, random);
      case 1: return by_timed_attempt(key, lock, random);
      case 2: return by_hold_of_another_owner(key, type);
      default: break;
    }
    const auto started = std::chrono::steady_clock::now();
    const std::scoped_lock guard{lock};
    tally_.waited(type, std::chrono::steady_clock::now() - started);
    if (type == LockType::WRITE && random() % 4 == 0) {
      Lock inner = places_->of(type).lock("key:" + std::to_string(key), LockType::READ);
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
    tally_.waited(lock.type(), std::chrono::steady_clock::now() - started);
    enter(key, lock.type(), hold.fencing_token().value_or(0));
    const bool ours = random() % 8 == 0 ? hold.release_after(1ms) : hold.release();
    if (!ours) ++tally_.lost;
  }

  void by_timed_attempt(std::size_t key, Lock& lock, Random& random) {
    const auto started = std::chrono::steady_clock::now();
    if (!lock.try_lock_for(std::chrono::microseconds(random() % 3'000))) {
      ++tally_.gave_up;
      return;
    }
    tally_.waited(lock.type(), std::chrono::steady_clock::now() - started);
    enter(key, lock.type(), 0);
    lock.unlock();
  }

  void by_hold_of_another_owner(std::size_t key, LockType type) {
    Lock lock =
        places_->of(type).with_owner(Owner::make()).lock("key:" + std::to_string(key), type);
    const auto started = std::chrono::steady_clock::now();
    const Hold hold = lock.acquire();
    tally_.waited(type, std::chrono::steady_clock::now() - started);
    enter(key, type, hold.fencing_token().value_or(0));
  }

  void enter(std::size_t key, LockType type, std::uint64_t token) {
    if (is_shared(type)) {
      judge_.visit_shared(key, places_ != nullptr);
    } else {
      judge_.visit_alone(key, token, places_ != nullptr);
    }
  }

  const Places* const places_;
  Judge& judge_;
  Tally& tally_;
  const std::uint64_t seed_;
  const Size size_;
  std::uint64_t rounds_ = 0;
};

}  // namespace latchkey::soak
