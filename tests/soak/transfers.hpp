// Threads that move money between several accounts at once. The sum must not change.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

namespace latchkey::soak {

/// Balances that only locks protect, in memory that processes may share.
struct Vault {
  static constexpr std::size_t accounts = 50;
  static constexpr std::int64_t opening = 1'000;

  Vault() { balances.fill(opening); }

  [[nodiscard]] std::int64_t sum() const {
    std::int64_t all = 0;
    for (const std::int64_t balance : balances) all += balance;
    return all;
  }

  std::array<std::int64_t, accounts> balances{};
  std::array<std::atomic<int>, accounts> inside{};  ///< threads that work on each account now
  std::atomic<std::uint64_t> transfers{0}, overlaps{0}, lost{0}, failed{0};
};

/// Threads that repeatedly move money between two to five accounts.
class Clerks {
 public:
  /// The lock of account n is at locks[n % locks.size()].
  Clerks(std::vector<Locks> locks, Vault& vault, std::uint64_t seed)
      : locks_(std::move(locks)), vault_(vault), seed_(seed) {}

  void run(int threads, std::chrono::milliseconds length) {
    const auto end = std::chrono::steady_clock::now() + length;
    std::vector<std::thread> team;
    for (int number = 0; number < threads; ++number) {
      team.emplace_back([this, number, end] {
        Random random(
            static_cast<Random::result_type>(seed_ + 17 * static_cast<std::uint64_t>(number)));
        while (std::chrono::steady_clock::now() < end) move_some(random);
      });
    }
    for (std::thread& thread : team) thread.join();
  }

 private:
  using Random = std::minstd_rand;

  void move_some(Random& random) {
    std::vector<std::size_t> chosen;
    const std::size_t count = 2 + random() % 4;
    // Half of the transfers use five accounts only, so that threads have to wait.
    const std::size_t range = random() % 2 == 0 ? 5 : Vault::accounts;
    while (chosen.size() < count) {
      const std::size_t account = random() % range;
      if (std::ranges::find(chosen, account) == chosen.end()) chosen.push_back(account);
    }
    std::vector<Lock> locks;
    locks.reserve(count);
    for (const std::size_t account : chosen) {
      locks.push_back(locks_[account % locks_.size()].lock("account:" + std::to_string(account),
                                                           LockType::WRITE));
    }
    try {
      // Waits without a limit: the locks are not FAIR, so a process whose own threads queue for a
      // key may keep the key from other processes for long.
      Hold hold =
          locks_.front().all_of(std::move(locks)).acquire(forever, std::chrono::seconds(30));
      move_between(chosen);
      if (!hold.release()) ++vault_.lost;
    } catch (const BackendUnavailable&) {
      ++vault_.failed;  // in acquire or in release; the locks are released later
    }
  }

  void move_between(const std::vector<std::size_t>& chosen) {
    for (const std::size_t account : chosen) {
      if (++vault_.inside[account] != 1) ++vault_.overlaps;
    }
    std::array<std::int64_t, 5> seen{};
    for (std::size_t index = 0; index < chosen.size(); ++index) {
      seen[index] = vault_.balances[chosen[index]];
    }
    std::this_thread::yield();  // gives others the chance to overlap
    const auto share = static_cast<std::int64_t>(chosen.size() - 1);
    vault_.balances[chosen[0]] = seen[0] - share;
    for (std::size_t index = 1; index < chosen.size(); ++index) {
      vault_.balances[chosen[index]] = seen[index] + 1;
    }
    for (const std::size_t account : chosen) --vault_.inside[account];
    ++vault_.transfers;
  }

  std::vector<Locks> locks_;
  Vault& vault_;
  const std::uint64_t seed_;
};

}  // namespace latchkey::soak
