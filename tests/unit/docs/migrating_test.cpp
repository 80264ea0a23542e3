// docs/migrating.md, compiled and run: its snippets stand here word for word.
#include <latchkey/latchkey.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/testing/scoped_locks.hpp>

namespace docs_migrating {
namespace {

using namespace std::chrono_literals;
using latchkey::LockType;
using latchkey::testing::ScopedLocks;
using latchkey::testing::Taken;

struct Order {
  int id = 0;
};

struct UserVO {
  int id = 0;
  std::string name;
};

std::vector<int> packed;
std::vector<int> paid;
long balances[100] = {};

void pack(const Order& order) { packed.push_back(order.id); }
void pay(int order) { paid.push_back(order); }
std::string write(const UserVO& userVO) { return "written by " + userVO.name; }

// clang-format off: the pages' own lines
class Accounts {
 public:
  long deposit(int id, long amount) {
    const std::scoped_lock guard(mutex_of(id));
    return balances_[id] += amount;
  }

 private:
  std::mutex& mutex_of(int id) {
    const std::scoped_lock guard(map_mutex_);
    return mutexes_[id];  // never erased: somebody may be waiting for it
  }

  std::mutex map_mutex_;
  std::map<int, std::mutex> mutexes_;
  long balances_[100] = {};
};

class LockedAccounts {
 public:
  long deposit(int id, long amount) {
    return LOCKED("account:{id}") AROUND(id, amount) { return balances_[id] += amount; };
  }

 private:
  long balances_[100] = {};
};

long deposit_by_hand(const latchkey::Locks& locks, int id, long amount) {
  auto lock = locks.lock("account:" + std::to_string(id));
  const std::scoped_lock guard(lock);
  return balances[id] += amount;
}

void ship(const Order& order) {
  LOCKED("order:{order.id}", LockType::REENTRANT, 3s, latchkey::watchdog) AROUND(order) {
    pack(order);
  };
}

void ship_by_hand(const latchkey::Locks& locks, const Order& order) {
  latchkey::Hold hold = locks.lock("order:" + std::to_string(order.id)).acquire(3s);
  pack(order);
  if (hold.lost()) throw std::runtime_error("another process may have packed this order too");
}

bool settle(const latchkey::Locks& locks, int order) {
  auto lock = locks.lock("order:" + std::to_string(order), LockType::WRITE);
  if (auto hold = lock.try_acquire(3s, 30s)) {
    pay(order);
    return hold->release();  // false: the lock was lost before the end
  }
  return false;  // busy for 3 s
}

std::string write_by_id(const UserVO& userVO) {
  return LOCKED("#userVO.id", LockType::WRITE, 30s) AROUND(userVO) { return write(userVO); };
}
// clang-format on

/// The sum that two threads with 1 000 deposits each leave.
template <class Bank>
long sum_after_deposits(Bank& bank) {
  const auto deposit = [&bank] {
    for (int i = 0; i < 1'000; ++i) bank.deposit(7, 1);
  };
  {
    const std::jthread first(deposit);
    const std::jthread second(deposit);
  }
  return bank.deposit(7, 0);
}

TEST(DocsMigrating, BothAccountsCountEveryDeposit) {
  const ScopedLocks locks;
  Accounts before;
  LockedAccounts after;
  EXPECT_EQ(sum_after_deposits(before), 2'000);
  EXPECT_EQ(sum_after_deposits(after), 2'000);
  EXPECT_EQ(deposit_by_hand(locks.locks(), 7, 5), 5);
  EXPECT_EQ(locks.taken().back(), (Taken{"account:7", LockType::REENTRANT}));
}

TEST(DocsMigrating, OrdersAreShippedUnderTheirLock) {
  const ScopedLocks locks;
  ship({1});
  ship_by_hand(locks.locks(), {2});
  EXPECT_EQ(packed, (std::vector<int>{1, 2}));
  EXPECT_EQ(locks.taken(), (std::vector<Taken>{{"order:1"}, {"order:2"}}));
}

TEST(DocsMigrating, OrdersAreSettledUnlessTheyAreBusy) {
  const ScopedLocks locks;
  EXPECT_TRUE(settle(locks.locks(), 3));
  EXPECT_EQ(paid, std::vector<int>{3});
  EXPECT_EQ(locks.taken(), (std::vector<Taken>{{"order:3", LockType::WRITE}}));
}

TEST(DocsMigrating, TheKeyOfAnAnnotationIsJavas) {
  const ScopedLocks locks;
  EXPECT_EQ(write_by_id({7, "ada"}), "written by ada");
  EXPECT_EQ(locks.taken(), (std::vector<Taken>{{"7", LockType::WRITE}}));
}

}  // namespace
}  // namespace docs_migrating
