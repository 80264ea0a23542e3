// Requests that share a statement or a transaction: their order and their outcomes.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "stores/mysql/mysql_server.hpp"
#include "stores/mysql/mysql_support.hpp"
#include "support/request_group.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;
using Kinds = std::vector<Kind>;

class MysqlBatch : public ::testing::Test {
 protected:
  [[nodiscard]] HoldId fresh_id() noexcept { return {space_, ++last_}; }
  [[nodiscard]] static std::int64_t statements() {
    const auto rows = mysql_server().session()("SHOW GLOBAL STATUS LIKE 'Questions'");
    return std::stoll(rows.at(0).at(1));
  }
  [[nodiscard]] static std::int64_t seconds_left(const std::string& key) {
    return std::stoll(mysql_server().session().one(
        "SELECT (ends - TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))) DIV 1000000 "
        "FROM latchkey_locks WHERE name = '" +
        key + "'"));
  }

  const std::array<std::uint64_t, 2> space_ = HoldId::new_space();
  std::uint64_t last_ = 0;
  const std::unique_ptr<Backend> backend_ = make_mysql(mysql_server().uri());
};

TEST_F(MysqlBatch, FreeKeysAreLockedAndFreedByOneStatementEach) {
  std::vector<std::string> keys;
  for (int key = 0; key < 8; ++key) keys.push_back(next_key());
  const HoldId id = fresh_id();
  RequestGroup group;
  group.add(Verb::acquire, next_key(), LockType::REENTRANT, id, 60s);  // with the first sweep
  group.send(*backend_);
  const std::int64_t before = statements();
  for (const std::string& key : keys) group.add(Verb::acquire, key, LockType::WRITE, id, 60s);
  EXPECT_EQ(kinds_of(group.send(*backend_)), Kinds(keys.size(), Kind::granted));
  for (const std::string& key : keys) group.add(Verb::release, key, LockType::WRITE, id);
  EXPECT_EQ(kinds_of(group.send(*backend_)), Kinds(keys.size(), Kind::granted));
  // Two, the two of `statements`, and sweeps: once a second, with ROLLBACK, BEGIN and COMMIT.
  EXPECT_LT(statements() - before, 2 * static_cast<std::int64_t>(keys.size()));
}

TEST_F(MysqlBatch, EachRequestOfAJointStatementHasItsOwnOutcome) {
  const std::string free = next_key(), busy = next_key(), mine = next_key(), expired = next_key();
  const HoldId id = fresh_id(), other = fresh_id();
  RequestGroup group;
  group.add(Verb::acquire, busy, LockType::REENTRANT, other, 60s);
  group.add(Verb::acquire, mine, LockType::REENTRANT, id, 20s);
  group.add(Verb::acquire, expired, LockType::REENTRANT, other, 1ms);
  EXPECT_EQ(kinds_of(group.send(*backend_)), Kinds(3, Kind::granted));
  std::this_thread::sleep_for(2ms);  // sleeps: the lease ends
  for (const std::string& key : {free, busy, mine, expired}) {
    group.add(Verb::acquire, key, LockType::REENTRANT, id, 60s);
  }
  EXPECT_EQ(kinds_of(group.send(*backend_)),
            (Kinds{Kind::granted, Kind::busy, Kind::granted, Kind::granted}));
  EXPECT_GT(seconds_left(mine), 30) << "the repeated acquire has not extended the lease";
  for (const std::string& key : {free, busy, mine, expired}) {
    group.add(Verb::release, key, LockType::REENTRANT, id);
  }
  EXPECT_EQ(kinds_of(group.send(*backend_)),
            (Kinds{Kind::granted, Kind::gone, Kind::granted, Kind::granted}));
  group.add(Verb::verify, busy, LockType::REENTRANT, other);
  EXPECT_EQ(kinds_of(group.send(*backend_)), (Kinds{Kind::granted}));
}

TEST_F(MysqlBatch, AReleaseDoesNotOvertakeTheAcquireOfItsKey) {
  const std::string key = next_key(), another = next_key();
  const HoldId id = fresh_id();
  RequestGroup group;
  group.add(Verb::acquire, key, LockType::REENTRANT, id, 60s);
  group.add(Verb::release, key, LockType::REENTRANT, id);
  group.add(Verb::acquire, another, LockType::REENTRANT, id, 60s);
  group.add(Verb::verify, key, LockType::REENTRANT, id);
  EXPECT_EQ(kinds_of(group.send(*backend_)),
            (Kinds{Kind::granted, Kind::granted, Kind::granted, Kind::gone}));
}

TEST_F(MysqlBatch, AWaiterAsksSoonAtFirstAndSeldomLater) {
  const std::string key = next_key();
  const HoldId id = fresh_id(), holder = fresh_id();
  RequestGroup group;
  group.add(Verb::acquire, key, LockType::REENTRANT, holder, 60s);
  EXPECT_EQ(kinds_of(group.send(*backend_)), (Kinds{Kind::granted}));
  const auto pause = [&] {
    group.add(Verb::acquire, key, LockType::REENTRANT, id, 60s);
    return group.send(*backend_).front().retry_after;
  };
  EXPECT_EQ(pause(), 2ms);
  // sleeps: the pause grows with the time that a caller has waited
  std::this_thread::sleep_for(45ms);
  EXPECT_EQ(pause(), 10ms);
  group.add(Verb::leave, key, LockType::REENTRANT, id);
  EXPECT_EQ(kinds_of(group.send(*backend_)), (Kinds{Kind::gone}));
  EXPECT_EQ(pause(), 2ms) << "another wait was paused as the one before";
  group.add(Verb::release, key, LockType::REENTRANT, holder);
  EXPECT_EQ(kinds_of(group.send(*backend_)), (Kinds{Kind::granted}));
}

TEST_F(MysqlBatch, AnErrorInAJointStatementFailsOnlyTheRequestThatHasIt) {
  const std::string good = next_key();
  const std::string bad(2000, 'k');  // longer than the column
  const HoldId id = fresh_id();
  RequestGroup group;
  group.add(Verb::acquire, good, LockType::REENTRANT, id, 60s);
  group.add(Verb::acquire, bad, LockType::REENTRANT, id, 60s);
  EXPECT_EQ(kinds_of(group.send(*backend_)), (Kinds{Kind::granted, Kind::refused}));
  group.add(Verb::release, good, LockType::REENTRANT, id);
  EXPECT_EQ(kinds_of(group.send(*backend_)), (Kinds{Kind::granted}));
}

/// A row that another transaction has locked.
class LockedRow {
 public:
  explicit LockedRow(const std::string& key) : key_(key) {
    session_("INSERT INTO latchkey_locks (name, mode, owner, ends) VALUES ('" + key_ +
             "', 1, 'x', 9000000000000000); START TRANSACTION; SELECT * FROM latchkey_locks WHERE "
             "name='" +
             key_ + "' FOR UPDATE");
  }
  LockedRow(const LockedRow&) = delete;
  LockedRow& operator=(const LockedRow&) = delete;
  ~LockedRow() { session_("ROLLBACK; DELETE FROM latchkey_locks WHERE name='" + key_ + "'"); }

 private:
  const std::string key_;
  MysqlSession session_ = mysql_server().session();
};

// It was a list of one key, for which the server read the whole table, and waited for each row.
TEST_F(MysqlBatch, OneReleaseBesideAnAcquireReadsNoOtherRow) {
  const std::string held = next_key(), wanted = next_key();
  const HoldId id = fresh_id();
  RequestGroup group;
  group.add(Verb::acquire, held, LockType::REENTRANT, id, 60s);
  group.send(*backend_);
  const LockedRow row(next_key());
  group.add(Verb::release, held, LockType::REENTRANT, id);
  group.add(Verb::acquire, wanted, LockType::REENTRANT, id, 60s);
  EXPECT_EQ(kinds_of(group.send(*backend_)), Kinds(2, Kind::granted));
  group.add(Verb::release, wanted, LockType::REENTRANT, id);
  EXPECT_EQ(kinds_of(group.send(*backend_)), Kinds(1, Kind::granted));
}

// In a small table it is cheaper to read all rows than to look for three.
TEST_F(MysqlBatch, ReleasesTogetherReadNoOtherRowOfASmallTable) {
  mysql_server().session()(
      "ALTER TABLE latchkey_locks ENGINE=InnoDB; ANALYZE TABLE latchkey_locks");
  const LockedRow row(next_key());
  for (const std::size_t count : {2U, 3U, 5U, 9U}) {
    const HoldId id = fresh_id();
    std::vector<std::string> keys;
    for (std::size_t key = 0; key < count; ++key) keys.push_back(next_key());
    RequestGroup group;
    for (const auto& key : keys) group.add(Verb::acquire, key, LockType::REENTRANT, id, 60s);
    EXPECT_EQ(kinds_of(group.send(*backend_)), Kinds(count, Kind::granted));
    for (const auto& key : keys) group.add(Verb::release, key, LockType::REENTRANT, id);
    EXPECT_EQ(kinds_of(group.send(*backend_)), Kinds(count, Kind::granted));
  }
}

}  // namespace
}  // namespace latchkey::tests
