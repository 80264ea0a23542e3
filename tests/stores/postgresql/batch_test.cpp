// Requests that share a transaction: their order, and which of them wait for the disk.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/locks.hpp>

#include "shared_server.hpp"
#include "support/request_group.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using Kind = Outcome::Kind;

class PostgresqlBatch : public ::testing::Test {
 protected:
  [[nodiscard]] HoldId fresh_id() noexcept { return {space_, ++last_}; }

  const std::array<std::uint64_t, 2> space_ = HoldId::new_space();
  std::uint64_t last_ = 0;
};

TEST_F(PostgresqlBatch, AReleaseDoesNotOvertakeTheAcquireOfItsKey) {
  const std::unique_ptr<Backend> backend = connect_backend(shared_server().uri());
  const HoldId first = fresh_id(), second = fresh_id();
  const std::string key = next_key("order:");
  RequestGroup group;
  group.add(Verb::acquire, key, LockType::REENTRANT, first, 60s);
  group.add(Verb::release, key, LockType::REENTRANT, first);
  group.add(Verb::acquire, key, LockType::REENTRANT, second, 60s);
  group.add(Verb::leave, key, LockType::REENTRANT, second);
  group.add(Verb::verify, key, LockType::REENTRANT, second);
  EXPECT_EQ(kinds_of(group.send(*backend)),
            (std::vector{Kind::granted, Kind::granted, Kind::granted, Kind::granted, Kind::gone}));
}

TEST_F(PostgresqlBatch, AVerbThatIsNotOfferedIsRefused) {
  const std::unique_ptr<Backend> backend = connect_backend(shared_server().uri());
  const std::string key = next_key("order:");
  RequestGroup group;
  group.add(Verb::latch_count, key, LockType::REENTRANT, {});
  group.add(Verb::resize, key, LockType::REENTRANT, {});
  group.add(Verb::acquire, key, LockType::REENTRANT, fresh_id(), 60s);
  EXPECT_EQ(kinds_of(group.send(*backend)),
            (std::vector{Kind::refused, Kind::refused, Kind::granted}));
}

TEST_F(PostgresqlBatch, RequestsForManyKeysHaveTheirOwnOutcomes) {
  const std::unique_ptr<Backend> mine = connect_backend(shared_server().uri());
  const std::unique_ptr<Backend> theirs = connect_backend(shared_server().uri());
  const HoldId id = fresh_id(), other = fresh_id();
  std::vector<std::string> keys;
  for (int key = 0; key < 100; ++key) keys.push_back(next_key("many:"));  // more than one batch
  RequestGroup others;
  for (std::size_t key = 0; key < keys.size(); key += 2) {
    others.add(Verb::acquire, keys[key], LockType::REENTRANT, other, 60s);
  }
  for (const Outcome& each : others.send(*theirs)) EXPECT_EQ(each.kind, Kind::granted);
  RequestGroup all;
  for (const std::string& key : keys) {
    all.add(Verb::acquire, key, LockType::REENTRANT, id, 60s);
    all.add(Verb::release, key, LockType::REENTRANT, id);
  }
  const std::vector<Outcome> outcomes = all.send(*mine);
  for (std::size_t key = 0; key < keys.size(); ++key) {
    EXPECT_EQ(outcomes[2 * key].kind, key % 2 == 0 ? Kind::busy : Kind::granted) << key;
    EXPECT_EQ(outcomes[2 * key + 1].kind, key % 2 == 0 ? Kind::gone : Kind::granted) << key;
  }
}

// commit_delay: each commit that waits for the disk takes 100 ms longer.
template <class Schema>
void expect_that_only_acquires_wait(PostgresqlServer& server, Schema schema) {
  register_postgresql();
  const Locks locks = Locks::connect(server.uri(schema));
  std::chrono::steady_clock::duration acquires{}, releases{};
  for (int time = 0; time < 20; ++time) {
    const auto begin = std::chrono::steady_clock::now();
    Hold hold = locks.lock("disk").acquire(0ms, 60s);
    const auto held = std::chrono::steady_clock::now();
    EXPECT_TRUE(hold.release());
    acquires += held - begin;
    releases += std::chrono::steady_clock::now() - held;
  }
  EXPECT_GT(acquires, 1500ms);
  EXPECT_LT(releases, acquires * 3 / 4);
}

TEST_F(PostgresqlBatch, AnAcquireWaitsForTheDiskAndAReleaseDoesNot) {
  PostgresqlServer server({"commit_delay = 100000", "commit_siblings = 0"});
  Sql sql = server.sql();
  sql("CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL, "
      "locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))");
  sql("GRANT SELECT, INSERT, UPDATE ON shedlock TO plain");
  expect_that_only_acquires_wait(server, "");
  expect_that_only_acquires_wait(server, "?schema=shedlock");
}

TEST_F(PostgresqlBatch, WhatIsReleasedLateIsHeldAgainAfterACrashOrFreeAndNeverHeldTwice) {
  register_postgresql();
  PostgresqlServer server;
  const Locks locks = Locks::connect(server.uri());
  for (int time = 0; time < 3; ++time) {
    EXPECT_TRUE(locks.lock("crash").acquire(5s, 2s).release());
    const Hold next = locks.lock("crash").acquire(5s, 60s);  // is on the disk, with the release
    server.kill();
    server.start();
    EXPECT_FALSE(Locks::connect(server.uri()).lock("crash").try_acquire(0ms, 1s));
    EXPECT_FALSE(next.lost());
  }
}

}  // namespace
}  // namespace latchkey::tests
