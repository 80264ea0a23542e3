// Revocation through Locks and Hold, in memory: who is asked, and what it is asked for.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/held.hpp>
#include <latchkey/latchkey.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/mock_backend.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "support/manual_locks.hpp"
#include "support/recorder.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::eventually;
using tests::ManualLocks;
using Kind = Event::Kind;

class RevocationTest : public ::testing::Test, public ManualLocks {};

TEST_F(RevocationTest, NobodyIsToldIfNobodyHoldsOrListens) {
  EXPECT_EQ(locks.revoke("k"), 0U);
  const Hold hold = locks.lock("k").acquire(forever);
  EXPECT_EQ(locks.revoke("k"), 0U);
  EXPECT_FALSE(hold.revoked()) << "it was asked before it listened";
}

TEST_F(RevocationTest, AnInspectTellsOfItUntilTheLockIsReleased) {
  Hold hold = locks.lock("k").acquire(0ms, 10s);
  EXPECT_EQ(locks.revoke("k"), 0U);
  EXPECT_FALSE(locks.inspect("k").holders.at(0).revoked) << "nobody was told";
  EXPECT_FALSE(hold.revoked());
  EXPECT_EQ(locks.revoke("k"), 1U);
  clock.advance(3s);
  EXPECT_EQ(locks.inspect("k").holders.at(0).revoked, 3s);
  EXPECT_TRUE(hold.release());
  const Hold next = locks.lock("k").acquire(0ms, 10s);
  EXPECT_FALSE(locks.inspect("k").holders.at(0).revoked);
  const Semaphore semaphore = locks.semaphore("s", 2);
  const Hold permit = semaphore.acquire(1, 0ms, 10s);
  EXPECT_FALSE(permit.revoked());
  EXPECT_EQ(locks.revoke("s"), 1U);
  EXPECT_EQ(semaphore.inspect().holders.at(0).revoked, 0s);
}

TEST_F(RevocationTest, AHolderThatListensIsAskedAndKeepsTheLock) {
  Hold hold = locks.lock("k").acquire(0ms, 10s);
  const std::stop_token token = hold.revocation_token();
  std::atomic<bool> called = false;
  const std::stop_callback callback(token, [&] { called = true; });
  EXPECT_FALSE(hold.revoked());
  EXPECT_FALSE(token.stop_requested());
  EXPECT_EQ(locks.revoke("k"), 1U);
  EXPECT_TRUE(eventually([&] { return hold.revoked(); }));
  EXPECT_TRUE(eventually([&] { return called.load(); }));
  EXPECT_TRUE(recorder.await(Kind::revoked));
  EXPECT_EQ(recorder.of(Kind::revoked).front().key, "k");
  EXPECT_FALSE(hold.lost());
  EXPECT_FALSE(hold.stop_token().stop_requested());
  EXPECT_TRUE(hold.extend(20s));
  EXPECT_TRUE(hold.release());
  EXPECT_FALSE(hold.revoked()) << "it is empty";
  EXPECT_FALSE(hold.revocation_token().stop_possible());
  EXPECT_EQ(locks.revoke("k"), 0U);
}

TEST_F(RevocationTest, ALaterHoldIsNotRevoked) {
  std::optional<Hold> hold = locks.lock("k").acquire(forever);
  EXPECT_FALSE(hold->revoked());
  EXPECT_EQ(locks.revoke("k"), 1U);
  EXPECT_TRUE(eventually([&] { return hold->revoked(); }));
  hold.reset();
  hold = locks.lock("k").acquire(forever);
  EXPECT_FALSE(hold->revoked());
  EXPECT_FALSE(hold->revocation_token().stop_requested());
}

TEST_F(RevocationTest, ATokenThatIsTakenAfterTheRequestIsStopped) {
  const Hold hold = locks.lock("k").acquire(forever);
  EXPECT_FALSE(hold.revoked());
  EXPECT_EQ(locks.revoke("k"), 1U);
  EXPECT_TRUE(eventually([&] { return hold.revoked(); }));
  EXPECT_TRUE(hold.revocation_token().stop_requested());
}

TEST_F(RevocationTest, AHoldOfSeveralKeysIsRevokedWithOneOfThem) {
  Lock both = locks.all_of({locks.lock("a"), locks.lock("b", LockType::FENCED)});
  Hold hold = both.acquire(forever);
  const std::stop_token token = hold.revocation_token();
  EXPECT_FALSE(hold.revoked());
  EXPECT_EQ(locks.revoke("b"), 1U);
  EXPECT_TRUE(eventually([&] { return hold.revoked() && token.stop_requested(); }));
  EXPECT_TRUE(hold.release());
  EXPECT_EQ(locks.revoke("a"), 0U);
}

TEST_F(RevocationTest, TheBodyOfADecoratedCallMayEndEarly) {
  int rounds = 0;
  LOCKED("k", LockType::WRITE, 3s, watchdog).in(locks)AROUND() {
    while (!current_hold()->revoked()) {
      if (++rounds > 1) continue;
      EXPECT_EQ(locks.revoke("k"), 1U);
    }
  };
  EXPECT_GE(rounds, 1);
  EXPECT_FALSE(locks.inspect("k").locked);
}

struct Page {
  int number;
};

// The example of docs/guarantees.md.
TEST_F(RevocationTest, AMethodEndsBetweenTwoPagesIfSomebodyAsks) {
  const testing::ScopedLocks scope(locks);
  std::vector<int> rebuilt;
  const auto pages = [](int) { return std::vector<Page>{{1}, {2}, {3}}; };
  const auto rebuild = [&](const Page& page) {
    rebuilt.push_back(page.number);
    if (page.number != 2) return;
    EXPECT_EQ(locks.revoke("rebuild:7"), 1U);
    EXPECT_TRUE(eventually([] { return current_hold()->revoked(); }));
  };
  const auto rebuild_all = [&](int shard) {
    LOCKED("rebuild:{shard}", LockType::WRITE, 3s, latchkey::watchdog) AROUND(shard) {
      for (const Page& page : pages(shard)) {
        if (latchkey::current_hold()->revoked()) return;  // somebody waits for it; go on later
        rebuild(page);
      }
    };
  };
  rebuild_all(7);
  EXPECT_EQ(rebuilt, (std::vector<int>{1, 2}));
}

TEST_F(RevocationTest, TheKeysOfAPrefixAreItsOwn) {
  const Locks shop = Locks::connect("memory:revocations", {.prefix = "shop:"});
  const Locks other = Locks::connect("memory:revocations");
  const Hold hold = shop.lock("k").acquire(forever);
  EXPECT_FALSE(hold.revoked());
  EXPECT_EQ(other.revoke("k"), 0U);
  EXPECT_EQ(shop.revoke("k"), 1U);
  EXPECT_TRUE(eventually([&] { return hold.revoked(); }));
}

TEST(Revocation, IsRefusedByABackendThatDoesNotOfferIt) {
  const Locks locks(std::make_unique<::testing::NiceMock<testing::MockBackend>>());
  const Hold hold = locks.lock("k").acquire(forever);
  EXPECT_FALSE(hold.revoked());
  EXPECT_FALSE(hold.revocation_token().stop_possible());
  try {
    locks.revoke("k");
    FAIL() << "it was not refused";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("cannot ask a holder to release its lock"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace latchkey
