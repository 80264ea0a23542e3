// The texts of latchkey's errors, word for word.
#include <latchkey/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace latchkey {
namespace {

using namespace std::chrono_literals;

const LockSite site{"order:42", LockType::WRITE, "redis://db1:6379/0"};
const std::string lock = "the WRITE lock 'order:42' on redis://db1:6379/0";

TEST(Error, LockTimeoutSaysHowLongAndWhoHolds) {
  EXPECT_EQ(std::string(LockTimeout(site, 3'000ms, "").what()),
            lock + " was busy for the whole wait of 3000 ms");
  const LockTimeout timeout(site, 3'000ms, "me:7");
  EXPECT_EQ(std::string(timeout.what()),
            lock + " was busy for the whole wait of 3000 ms; held by me:7");
  EXPECT_EQ(timeout.key(), "order:42");
  EXPECT_EQ(timeout.type(), LockType::WRITE);
  EXPECT_EQ(timeout.backend(), "redis://db1:6379/0");
  EXPECT_EQ(timeout.waited(), 3s);
  EXPECT_EQ(timeout.holder(), "me:7");
}

TEST(Error, EveryErrorNamesTheLock) {
  EXPECT_EQ(std::string(LockLost(site).what()),
            lock +
                " was lost before it was released: its lease ended or the backend no longer had "
                "it, and another may have held it meanwhile");
  EXPECT_EQ(std::string(LockLost(site, 600'000ms, true).what()),
            lock +
                " was lost before it was released: it was held for longer than held_at_most "
                "allows, and another may have held it meanwhile; it was held for 600000 ms");
  EXPECT_TRUE(LockLost(site, 600'000ms, true).held_too_long());
  EXPECT_FALSE(LockLost(site).held_too_long());
  EXPECT_EQ(std::string(NotOwner(site).what()),
            lock + " is not held by this owner by lock(): nothing to unlock");
  EXPECT_EQ(std::string(NotHeld(site).what()), "no decorated call of this thread holds 'order:42'");
  EXPECT_EQ(std::string(WouldDeadlock(site, LockType::READ).what()),
            lock +
                " would wait for its own owner, who holds it as READ: a READ cannot become a "
                "WRITE; take the WRITE first, or end the READ before");
  EXPECT_EQ(std::string(ReleaseUnconfirmed(site, "no answer").what()),
            "the release of " + lock +
                " was not confirmed: no answer; the lock ends at the latest with its lease");
  EXPECT_EQ(std::string(Cancelled(site).what()),
            "the wait for " + lock + " was cancelled by its stop token");
  EXPECT_EQ(std::string(Cancelled(site, Cancelled::By::cancellation_slot).what()),
            "the wait for " + lock + " was cancelled by its cancellation slot");
  EXPECT_EQ(std::string(Closed(site).what()), "the Locks of " + lock + " are closed");
  EXPECT_EQ(std::string(BackendUnavailable(site, "no answer").what()),
            "the state of " + lock + " is unknown: no answer");
  EXPECT_EQ(std::string(BackendRefused(site, "NOPERM").what()),
            "the backend refused " + lock + ": NOPERM");
  EXPECT_EQ(std::string(Closed({"k", LockType::FAIR, ""}).what()),
            "the Locks of the FAIR lock 'k' are closed");
}

TEST(Error, OfADecoratedCallSaysWhereAndWhetherItsBodyRan) {
  LockSite at = site;
  at.method = "Bank::pay (bank.cpp:7)";
  at.terms = "key template 'order:{id}', lease watchdog";
  const Closed before(at);
  EXPECT_EQ(before.what(), "Bank::pay (bank.cpp:7): the Locks of " + lock +
                               " are closed; key template 'order:{id}', lease watchdog; the body "
                               "did not run");
  EXPECT_FALSE(before.body_ran());
  at.body_ran = true;
  const ReleaseUnconfirmed after(at, "no answer");
  EXPECT_TRUE(std::string_view(after.what()).ends_with("; the body ran")) << after.what();
  EXPECT_TRUE(after.body_ran());
  EXPECT_TRUE(Error(after).body_ran()) << "a copy says the same";
  EXPECT_EQ(after.method(), "Bank::pay (bank.cpp:7)");
}

TEST(Error, PolicyErrorPointsIntoItsFile) {
  EXPECT_EQ(std::string(PolicyError("locks.yaml", 3, 7, "what is 'leese'?").what()),
            "locks.yaml:3:7: what is 'leese'?");
  EXPECT_EQ(std::string(PolicyError("locks.yaml", 3, 0, "x").what()), "locks.yaml:3: x");
  EXPECT_EQ(std::string(PolicyError("locks.yaml", 0, 0, "x").what()), "locks.yaml: x");
  EXPECT_EQ(std::string(PolicyError("", 0, 0, "x").what()), "x");
  EXPECT_EQ(PolicyError("locks.yaml", 3, 7, "x").line(), 3);
}

TEST(Error, OneRootCatchesAll) {
  EXPECT_THROW(throw LockTimeout(site, 0ms, ""), LockError);
  EXPECT_THROW(throw Cancelled(site), Error);
  EXPECT_THROW(throw KeyError("an empty key"), Error);
  EXPECT_THROW(throw PolicyError("f", 1, 1, "x"), Error);
  EXPECT_THROW(throw NotConfigured("say latchkey::install(...)"), Error);
}

}  // namespace
}  // namespace latchkey
