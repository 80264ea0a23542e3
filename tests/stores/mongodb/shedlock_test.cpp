// Names shared with ShedLock: its statements by hand, as its MongoLockProvider sends them.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/mongodb.hpp>

#include "ferretdb_server.hpp"
#include "stores/mongodb/commands.hpp"
#include "support/polling.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using namespace detail::mongodb;
using Kind = Outcome::Kind;
using testing::Probe;

class MongoDbShedLock : public ::testing::Test {
 protected:
  void SetUp() override {
    NEEDS_FERRETDB();
    uri_ = shared_ferretdb().uri("?schema=shedlock&collection=" + next_key("shedLock"));
    shell_.emplace(uri_);
  }
  [[nodiscard]] Probe connect() const { return Probe(connect_mongodb(uri_), {}); }

  static Date now() {
    using std::chrono::milliseconds;
    return {std::chrono::duration_cast<milliseconds>(
                std::chrono::system_clock::now().time_since_epoch())
                .count()};
  }
  /// lock(): whether ShedLock would hold it.
  bool shedlock_locks(const std::string& name, std::chrono::milliseconds time) {
    const Date at = now();
    const Bson fields = doc("lockUntil", Date{at.milliseconds + time.count()}, "lockedAt", at,
                            "lockedBy", "some-host");
    return Commands(**shell_)
        .modify_or_insert(doc("_id", name, "lockUntil", doc("$lte", at)), doc("$set", fields))
        .after.has_value();
  }
  /// unlock(): ShedLock filters by _id alone.
  void shedlock_unlocks(const std::string& name) {
    Commands(**shell_).modify(doc("_id", name), doc("$set", doc("lockUntil", now())));
  }
  std::optional<Bson> document(const std::string& name) {
    return Commands(**shell_).find(doc("_id", name));
  }

  std::string uri_;
  std::optional<Shell> shell_;
};

TEST_F(MongoDbShedLock, EachSideKeepsTheOtherOut) {
  Probe probe = connect();
  const HoldId id = probe.fresh_id();
  const auto type = LockType::REENTRANT;
  EXPECT_TRUE(shedlock_locks("job", 30s));
  const Outcome busy = probe.acquire("job", type, id, 30s);
  EXPECT_EQ(busy.kind, Kind::busy);
  EXPECT_EQ(busy.holder, "some-host");
  shedlock_unlocks("job");
  await("the lock", [&] {
    return probe.acquire("job", type, id, 30s).kind == Kind::granted ? "" : "it is busy";
  });
  EXPECT_FALSE(shedlock_locks("job", 30s));
  EXPECT_EQ(probe.send(Verb::release, "job", type, id).kind, Kind::granted);
  EXPECT_TRUE(shedlock_locks("job", 30s));
}

TEST_F(MongoDbShedLock, ADocumentHasShedLocksFieldsAndStays) {
  Probe probe = connect();
  const HoldId id = probe.fresh_id();
  EXPECT_EQ(probe.acquire("job", LockType::REENTRANT, id, 30s).kind, Kind::granted);
  const auto held = document("job");
  ASSERT_TRUE(held);
  EXPECT_EQ(text_at(held->get(), "lockedBy"), id.text());
  const auto at = date_at(held->get(), "lockedAt"), until = date_at(held->get(), "lockUntil");
  ASSERT_TRUE(at && until);
  EXPECT_EQ(until->milliseconds - at->milliseconds, 30'000);
  EXPECT_EQ(probe.send(Verb::release, "job", LockType::REENTRANT, id).kind, Kind::granted);
  const auto free = document("job");
  ASSERT_TRUE(free);
  EXPECT_LT(*date_at(free->get(), "lockUntil"), *until);
}

TEST_F(MongoDbShedLock, ALateReleaseDoesNotFreeTheNextHolder) {
  Probe probe = connect();
  const HoldId late = probe.fresh_id();
  EXPECT_EQ(probe.acquire("job", LockType::REENTRANT, late, 20ms).kind, Kind::granted);
  await("ShedLock's turn", [&] { return shedlock_locks("job", 30s) ? "" : "it is busy"; });
  EXPECT_EQ(probe.send(Verb::release, "job", LockType::REENTRANT, late).kind, Kind::gone);
  EXPECT_EQ(probe.acquire("job", LockType::REENTRANT, probe.fresh_id(), 30s).kind, Kind::busy);
}

TEST_F(MongoDbShedLock, OtherTypesAreNotOffered) {
  register_mongodb();
  const Locks locks = Locks::connect(uri_);
  EXPECT_THROW(static_cast<void>(locks.lock("job", LockType::FENCED).try_acquire()),
               std::invalid_argument);
}

}  // namespace
}  // namespace latchkey::tests
