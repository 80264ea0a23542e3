// README.md and docs/cli.md, compiled: their snippets stand here word for word.
#include <latchkey/latchkey.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include <latchkey/testing/scoped_locks.hpp>

namespace docs_readme {
namespace {

using namespace std::chrono_literals;
using latchkey::LockType;

struct Order {
  int id = 43;
};

struct Store {
  void write(const Order& order, std::uint64_t token) {
    written = order.id;
    last_token = token;
  }
  int written = 0;
  std::uint64_t last_token = 0;
};

struct Account {
  int id = 0;
  long balance = 0;
};

// clang-format off: the page's own lines
void lock_by_hand(Store& store, const Order& order) {
latchkey::Locks locks = latchkey::Locks::connect("memory:");

auto lock = locks.lock("order:42", LockType::FAIR);
std::scoped_lock guard{lock};                    // no limit to the wait; the watchdog renews

if (auto hold = locks.lock("order:43", LockType::FENCED).try_acquire(3s, 30s)) {
  store.write(order, *hold->fencing_token());    // the store refuses lower tokens
}
}

void move_money(Account& from, Account& to, long amount) {
  from.balance -= amount;
  to.balance += amount;
}

void f() {}

/// Runs the first line; the other two are compiled only.
void hold_several(Account& from, Account& to, long amount, const std::vector<int>& ids,
                  const latchkey::Locks& locks, const latchkey::Locks& elsewhere) {
return LOCKED(KEYS("account:{from.id}", "account:{to.id}"), LockType::WRITE)
    AROUND(from, to, amount) { move_money(from, to, amount); };
return LOCKED("account:{ids[*]}", LockType::READ) AROUND(ids) { f(); };   // a key for each element
auto both = locks.all_of({locks.lock("a"), elsewhere.lock("b", LockType::READ)});
}

int write_sites() {
if (const char* file = std::getenv("LATCHKEY_DUMP_SITES")) {
  std::ofstream out(file);
  latchkey::dump_sites(out);
  return 0;
}
  return 1;
}
// clang-format on

TEST(Readme, LocksByHand) {
  Store store;
  lock_by_hand(store, {43});
  EXPECT_EQ(store.written, 43);
  EXPECT_GT(store.last_token, 0U);
}

TEST(Readme, HoldsSeveralKeys) {
  const latchkey::testing::ScopedLocks scope;
  Account from{1, 10};
  Account to{2, 0};
  hold_several(from, to, 10, {1, 2}, scope.locks(), latchkey::Locks::connect("memory:"));
  EXPECT_EQ(to.balance, 10);
  EXPECT_EQ(scope.taken().size(), 2U);
}

TEST(Readme, WritesItsSites) {
  const std::string file = testing::TempDir() + "docs_readme_sites.json";
  ASSERT_EQ(setenv("LATCHKEY_DUMP_SITES", file.c_str(), 1), 0);
  EXPECT_EQ(write_sites(), 0);
  ASSERT_EQ(unsetenv("LATCHKEY_DUMP_SITES"), 0);
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(text.find("hold_several"), std::string::npos);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace docs_readme
