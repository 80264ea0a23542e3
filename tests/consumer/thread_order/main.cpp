// Four threads change guarded data: with every kind of lock call, or without any.
//
//   thread_order [unlocked]
#include <latchkey/latchkey.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using latchkey::LockType;

class Counts final : public latchkey::Listener {
 public:
  void on_event(const latchkey::Event&) override { ++events; }
  long events = 0;  // used by the one thread that calls listeners
};

struct Account {
  int id;
};

class Bank {
 public:
  void deposit(const Account& account) {
    LOCKED("account:{account.id}", LockType::WRITE, 10s, 10s) AROUND(account) { ++decorated_; };
  }
  void by_every_lock(const latchkey::Locks& locks, int round) {
    const std::string suffix = std::to_string(round % 3);
    if (auto hold = locks.lock("hold").try_acquire(10s, 10s)) ++by_hold_;
    {
      latchkey::Lock lock = locks.lock("mutex", LockType::FAIR);
      const std::scoped_lock guard(lock);
      ++by_lock_;
    }
    latchkey::ReadWriteLock both = locks.read_write("both");
    {
      const std::scoped_lock writes(both);
      ++by_write_;
    }
    {
      const std::shared_lock reads(both);
      seen_.store(by_write_);
    }
    const auto several = locks.all_of({locks.lock("one"), locks.lock("two")}).acquire(10s, 10s);
    ++by_several_;
    static_cast<void>(locks.lock("of its own " + suffix).acquire(10s, 10s));
  }
  [[nodiscard]] long sum() const {
    return decorated_ + by_hold_ + by_lock_ + by_write_ + by_several_;
  }

 private:
  long decorated_ = 0, by_hold_ = 0, by_lock_ = 0, by_write_ = 0, by_several_ = 0;
  std::atomic<long> seen_ = 0;
};

}  // namespace

int main(int count, char** words) {
  const bool locked = count < 2 || std::string_view(words[1]) != "unlocked";
  constexpr int threads = 4, rounds = 200;
  Counts counts;
  latchkey::Options options;
  options.listener = &counts;
  long sum = 0;
  {
    const latchkey::Locks locks = latchkey::Locks::connect("memory:", options);
    latchkey::install(locks);
    Bank bank;
    long unguarded = 0;
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread) {
      all.emplace_back([&] {
        for (int round = 0; round < rounds; ++round) {
          if (!locked) ++unguarded;
          bank.deposit({7});
          bank.by_every_lock(locks, round);
        }
      });
    }
    for (std::thread& each : all) each.join();
    sum = bank.sum();
    locks.close(1s);
  }
  std::printf("%ld of %d, %s\n", sum, 5 * threads * rounds, counts.events > 0 ? "heard" : "silent");
  return sum == 5L * threads * rounds ? 0 : 1;
}
