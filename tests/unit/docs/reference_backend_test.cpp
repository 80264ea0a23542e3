// The examples in simple_backend.hpp and backend_contract.hpp: they stand here word for word.
#include <latchkey/locks.hpp>
#include <latchkey/simple_backend.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <latchkey/testing/backend_contract.hpp>
#include <latchkey/testing/manual_clock.hpp>

#include "memory/memory_backend.hpp"

// clang-format off: the headers' own lines
namespace docs_reference_backend {
namespace {

using namespace std::chrono_literals;

/// Does what the statements of SqlLocks mean to one table.
class Database {
 public:
  explicit Database(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] const std::string& name() const { return name_; }

  int run(std::string_view, std::string_view key, std::string owner,
          std::chrono::milliseconds lease) {
    Row& row = rows_[std::string(key)];
    if (row.owner != owner && row.ends > now()) return 0;
    row = {std::move(owner), now() + lease};
    return 1;
  }
  int run(std::string_view, std::chrono::milliseconds lease, std::string_view key,
          const std::string& owner) {
    if (!is_held(key, owner)) return 0;
    rows_[std::string(key)].ends = now() + lease;
    return 1;
  }
  int run(std::string_view, std::string_view key, const std::string& owner) {
    return is_held(key, owner) ? static_cast<int>(rows_.erase(std::string(key))) : 0;
  }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Row {
    std::string owner{};
    Time ends{};
  };

  static Time now() { return std::chrono::steady_clock::now(); }
  bool is_held(std::string_view key, const std::string& owner) {
    const auto row = rows_.find(std::string(key));
    return row != rows_.end() && row->second.owner == owner && row->second.ends > now();
  }

  std::string name_;
  std::map<std::string, Row> rows_;
};

// simple_backend.hpp
class SqlLocks final : public latchkey::SimpleBackend {
 public:
  explicit SqlLocks(std::string dsn) : database_(std::move(dsn)) {}
  std::string describe() const override { return "sql:" + database_.name(); }

 protected:
  // insert or take over a row whose lease has ended; also for its own holder
  latchkey::Outcome acquire(const latchkey::Request& request) override {
    const bool mine = database_.run(
        "INSERT INTO locks (name, owner, ends) VALUES (?, ?, now() + ?) "
        "ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, "
        "  ends = greatest(locks.ends, excluded.ends) "
        "WHERE locks.owner = excluded.owner OR locks.ends <= now()",
        request.key, request.id.text(), request.lease) == 1;
    return mine ? granted() : busy();
  }
  latchkey::Outcome renew(const latchkey::Request& request) override {
    return granted_if(database_.run(
        "UPDATE locks SET ends = greatest(ends, now() + ?) "
        "WHERE name = ? AND owner = ? AND ends > now()",
        request.lease, request.key, request.id.text()) == 1);
  }
  latchkey::Outcome release(const latchkey::Request& request) override {
    return granted_if(database_.run(
        "DELETE FROM locks WHERE name = ? AND owner = ? AND ends > now()",
        request.key, request.id.text()) == 1);
  }

 private:
  Database database_;  // a pool: functions for different keys run at once
};

latchkey::Locks locks{std::make_unique<SqlLocks>("bank")};

TEST(Reference, SqlLocks) {
  EXPECT_EQ(locks.describe(), "sql:bank");
  latchkey::Hold hold = locks.lock("a").acquire(0s, 1h);
  EXPECT_TRUE(hold.extend(2h));
  EXPECT_FALSE(locks.with_owner(latchkey::Owner::make()).lock("a").try_acquire());
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(locks.lock("a").try_acquire());
}

latchkey::testing::ManualClock contract_clock;
std::atomic<int> last_key = 0;

}  // namespace
}  // namespace docs_reference_backend

// testing/backend_contract.hpp
struct SqlStore {
  std::unique_ptr<latchkey::Backend> backend();   // a new connection to the same store
  std::string fresh_key();                        // a key that was never used before
  void pass(std::chrono::milliseconds time);      // lets time pass: manually, or by waiting
  latchkey::Options options();                    // for the Locks; its clock is the store's

  // Optional: leases are multiples of this; 100 ms by default. A small unit makes the suite
  // fast, a large one makes it reliable in real time on a busy machine.
  static constexpr auto unit = std::chrono::milliseconds(20);
  // Optional: false if verify trusts the lease, as that of SimpleBackend does.
  static constexpr bool verifies = false;
  // Optional: false if the store names holders by other texts than those of their ids.
  static constexpr bool shows_ids = true;
  // Optional: false if the store does not know who waits for a key.
  static constexpr bool knows_waiters = true;
  // Optional: true if a connection counts the lease of another holder from when it has seen
  // it: it is then driven, in real time, while time passes.
  static constexpr bool observes = false;
};
LATCHKEY_BACKEND_CONTRACT(Sql, SqlStore)
;
// clang-format on

std::unique_ptr<latchkey::Backend> SqlStore::backend() {
  return latchkey::detail::make_memory_backend("memory:docs_reference_backend", options());
}
std::string SqlStore::fresh_key() {
  return "key" + std::to_string(++docs_reference_backend::last_key);
}
void SqlStore::pass(std::chrono::milliseconds time) {
  docs_reference_backend::contract_clock.advance(time);
}
latchkey::Options SqlStore::options() { return {.clock = &docs_reference_backend::contract_clock}; }
