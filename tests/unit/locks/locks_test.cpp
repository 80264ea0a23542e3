// Locks: keys and prefixes, options, administration, and closing.
#include <latchkey/locks.hpp>

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>

#include "support/failing_backend.hpp"
#include "support/manual_locks.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using tests::ManualLocks;
using Kind = Event::Kind;
using Names = std::vector<std::string>;

template <class Thrown, class Call>
std::string sentence_of(Call&& call) {
  try {
    call();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// Some functions gave keys with the prefix, and others took them without it.
TEST(LocksTest, KeysGivenAndTakenAreWithoutThePrefix) {
  tests::Recorder recorder;
  const Locks bare = Locks::connect("memory:prefixed");
  const Locks locks = Locks::connect("memory:prefixed", {.prefix = "shop:", .listener = &recorder});
  Lock lock = locks.lock("a");
  EXPECT_EQ(lock.key(), "a");
  EXPECT_EQ(locks.semaphore("s", 1).key(), "s");
  const Hold hold = lock.acquire(forever);
  EXPECT_EQ(hold.key(), "a");
  EXPECT_TRUE(hold.covers("a"));
  EXPECT_FALSE(hold.covers("shop:a"));
  EXPECT_EQ(locks.acquire("b", {}).key(), "b");
  EXPECT_EQ(locks.all_of({locks.lock("b"), bare.lock("c")}).acquire(forever).key(), "c, b")
      << "in the order of the backend's keys";
  EXPECT_TRUE(bare.inspect("shop:a").locked);
  EXPECT_TRUE(locks.inspect("a").locked);
  EXPECT_EQ(locks.inspect("a").key, "a");
  EXPECT_EQ(locks.inspect_all(std::vector<std::string>{"a"}).at(0).key, "a");
  const Hold other = bare.lock("elsewhere").acquire(forever);
  EXPECT_EQ(locks.list(), Names{"a"});
  EXPECT_EQ(locks.list_page("*").names, Names{"a"});
  EXPECT_TRUE(locks.flush(tests::patience));
  EXPECT_EQ(recorder.taken().at(0).key, "a");
  try {
    static_cast<void>(
        locks.with_owner(Owner::make()).lock("a").acquire(std::chrono::milliseconds(0)));
    ADD_FAILURE() << "it is held";
  } catch (const LockTimeout& busy) {
    EXPECT_EQ(busy.key(), "a");
    EXPECT_NE(std::string(busy.what()).find("'shop:a'"), std::string::npos) << busy.what();
  }
  EXPECT_EQ(bare.list(), (Names{"elsewhere", "shop:a"}));
  EXPECT_TRUE(locks.force_release("a"));
  EXPECT_FALSE(bare.inspect("shop:a").locked);
}

// Its glob characters matched other programs' keys, and not its own.
TEST(LocksTest, APrefixWithGlobCharactersListsItsOwnKeysOnly) {
  const Locks bare = Locks::connect("memory:globs");
  const Hold other = bare.lock("ab:x").acquire(forever);
  for (const char* prefix : {"a*:", "a?:", "[a]b:", "a\\b:"}) {
    const Locks locks = Locks::connect("memory:globs", {.prefix = prefix});
    EXPECT_EQ(locks.list(), Names{});
    const Hold hold = locks.lock("mine").acquire(forever);
    EXPECT_EQ(locks.list(), Names{"mine"});
    EXPECT_EQ(locks.list("m[ij]ne"), Names{"mine"});
  }
}

TEST(LocksTest, KeysAreOneByteToOneKibibyte) {
  const Locks locks = Locks::connect("memory:", {.prefix = "1234"});
  const std::string longest(1'020, 'x');
  EXPECT_TRUE(locks.lock(longest).try_acquire().has_value());
  EXPECT_EQ(sentence_of<KeyError>([&] { static_cast<void>(locks.lock("")); }),
            "a key has at least 1 byte: this one is empty");
  const std::string sentence =
      "a key has at most 1024 bytes: '" + std::string(32, 'x') + "...' has 1025";
  EXPECT_EQ(sentence_of<KeyError>([&] { static_cast<void>(locks.lock(longest + 'x')); }), sentence);
  EXPECT_THROW(static_cast<void>(locks.acquire(longest + 'x', {})), KeyError);
  EXPECT_THROW(static_cast<void>(locks.try_acquire("", {})), KeyError);
  EXPECT_THROW(static_cast<void>(locks.inspect("")), KeyError);
  EXPECT_THROW(static_cast<void>(locks.force_release("")), KeyError);
  EXPECT_THROW(static_cast<void>(locks.read_write("")), KeyError);
  const std::string zeros("a\0b", 3);
  const Hold hold = locks.lock(zeros).acquire(forever);
  EXPECT_FALSE(locks.inspect("a").locked);
  EXPECT_TRUE(locks.inspect(zeros).locked);
}

TEST(LocksTest, OptionsOutOfRangeAreNamed) {
  const auto refused = [](Options options) {
    return sentence_of<std::invalid_argument>(
        [&] { static_cast<void>(Locks::connect("memory:", options)); });
  };
  EXPECT_EQ(refused({.watchdog = 29ms}), "Options::watchdog is between 30 ms and 1 day");
  EXPECT_EQ(refused({.watchdog = 25h}), "Options::watchdog is between 30 ms and 1 day");
  EXPECT_EQ(refused({.command_timeout = 0ms}),
            "Options::command_timeout is between 1 ms and 1 hour");
  EXPECT_EQ(refused({.unavailable_after = -1ms}),
            "Options::unavailable_after is between 1 ms and 1 day");
  EXPECT_EQ(refused({.prefix = std::string(1'024, 'x')}), "Options::prefix is shorter than 1 KiB");
}

TEST(LocksTest, AnUnsupportedTypeIsRefusedBeforeARequestIsSent) {
  tests::Faults faults;
  const Locks locks{std::make_unique<tests::FailingBackend>(faults)};
  EXPECT_EQ(sentence_of<std::invalid_argument>(
                [&] { static_cast<void>(locks.lock("k", LockType::FAIR)); }),
            "failing offers no FAIR locks");
  EXPECT_THROW(static_cast<void>(locks.read_write("k")), std::invalid_argument);
  Attempt attempt;
  attempt.type = LockType::FENCED;
  EXPECT_THROW(static_cast<void>(locks.acquire("k", attempt)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(locks.inspect("k")), BackendRefused);
}

TEST(LocksTest, DescribeNamesTheBackend) {
  EXPECT_EQ(Locks::connect("memory:").describe(), "memory:");
  EXPECT_EQ(Locks::connect("memory:bank").describe(), "memory:bank");
}

class AdministrationTest : public ::testing::Test, public ManualLocks {};

TEST_F(AdministrationTest, InspectReportsHoldersQueueAndToken) {
  const LockInfo nobody = locks.inspect("k");
  EXPECT_EQ(nobody.key, "k");
  EXPECT_FALSE(nobody.locked);
  EXPECT_TRUE(nobody.holders.empty() && nobody.queue.empty());
  {
    const Hold one = locks.lock("k", LockType::READ).acquire(0ms, 10s);
    const Hold two = another().lock("k", LockType::READ).acquire(0ms, 20s);
    const LockInfo readers = locks.inspect("k");
    EXPECT_TRUE(readers.locked);
    EXPECT_EQ(readers.type, LockType::READ);
    ASSERT_EQ(readers.holders.size(), 2U);
    EXPECT_EQ(readers.holders[0].left, 10s);
    EXPECT_EQ(readers.holders[1].left, 20s);
    EXPECT_EQ(readers.holders[0].id.find(':'), 36U);
  }
  Hold fair = locks.lock("k", LockType::FAIR).acquire(forever);
  auto waiter = std::async(std::launch::async,
                           [&] { return locks.lock("k", LockType::FAIR).acquire(forever); });
  ASSERT_TRUE(clock.await_sleepers(2));
  EXPECT_EQ(locks.inspect("k").queue.size(), 1U);
  EXPECT_TRUE(fair.release());
  EXPECT_TRUE(waiter.get().release());
  EXPECT_TRUE(locks.inspect("k").queue.empty());
}

TEST_F(AdministrationTest, ListReturnsLockedKeys) {
  const Hold a = locks.lock("order:1").acquire(forever),
             b = locks.lock("order:2").acquire(0ms, 10s);
  const Hold c = locks.lock("cart:1").acquire(forever);
  EXPECT_EQ(locks.list(), (Names{"cart:1", "order:1", "order:2"}));
  EXPECT_EQ(locks.list("order:*"), (Names{"order:1", "order:2"}));
  EXPECT_EQ(locks.list("nothing*"), Names{});
  pass(10s);
  EXPECT_EQ(locks.list("order:*"), Names{"order:1"});
}

TEST_F(AdministrationTest, ForceReleaseReturnsWhetherTheKeyWasHeld) {
  EXPECT_FALSE(locks.force_release("k"));
  const Hold hold = locks.lock("k").acquire(forever);
  EXPECT_TRUE(locks.force_release("k"));
  EXPECT_FALSE(locks.force_release("k"));
}

TEST_F(AdministrationTest, WithOwnerSharesTheLocks) {
  const Locks other = another();
  EXPECT_EQ(other.describe(), locks.describe());
  const Hold hold = other.lock("k").acquire(forever);
  EXPECT_TRUE(locks.inspect("k").locked);
  EXPECT_FALSE(locks.lock("k").try_lock());
}

class CloseTest : public ::testing::Test, public ManualLocks {};

TEST_F(CloseTest, EndsWaitsAndRefusesNewCalls) {
  std::optional<Hold> hold = locks.lock("k").acquire(forever);
  std::vector<std::future<void>> waiters;
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::READ}) {
    waiters.push_back(std::async(std::launch::async, [&, type] {
      EXPECT_THROW(static_cast<void>(locks.lock("k", type).acquire(forever)), Closed);
    }));
  }
  ASSERT_TRUE(clock.await_sleepers(4));
  auto closing = std::async(std::launch::async, [&] { locks.close(1h); });
  for (auto& waiter : waiters) waiter.get();
  EXPECT_EQ(closing.wait_for(10ms), std::future_status::timeout);  // the holder has time
  EXPECT_THROW(locks.lock("new").lock(), Closed);
  EXPECT_THROW(locks.lock("new").try_lock(), Closed);
  EXPECT_FALSE(hold->lost());
  EXPECT_TRUE(hold->release());
  closing.get();
  EXPECT_TRUE(locks.list().empty());
  locks.close(1h);  // once more: nothing to wait for
}

TEST_F(CloseTest, EndsHoldsAfterTheDrain) {
  Hold hold = locks.lock("k").acquire(forever);
  const std::stop_token token = hold.stop_token();
  Lock lock = locks.lock("l");
  lock.lock();
  auto closing = std::async(std::launch::async, [&] { locks.close(5s); });
  ASSERT_TRUE(clock.await_sleepers(2));
  clock.advance(5s);
  closing.get();
  EXPECT_TRUE(hold.lost());
  EXPECT_TRUE(tests::eventually([&] { return token.stop_requested(); }));
  EXPECT_FALSE(locks.inspect("k").locked);
  EXPECT_FALSE(hold.release());
  EXPECT_FALSE(lock.release());
  ASSERT_TRUE(recorder.await(Kind::lost, 2));
  EXPECT_EQ(recorder.of(Kind::lost)[0].text, "its Locks were closed");
}

TEST_F(CloseTest, ReleasesAtOnceWithoutADrain) {
  const Hold hold = locks.lock("k").acquire(forever);
  locks.close(0ms);
  EXPECT_TRUE(hold.lost());
  EXPECT_TRUE(locks.list().empty());
}

// The one that ended first took the other's wake-up away.
TEST_F(CloseTest, TwoThreadsMayCloseAtOnce) {
  std::optional<Hold> hold = locks.lock("k").acquire(forever);
  auto one = std::async(std::launch::async, [&] { locks.close(24h); });
  auto two = std::async(std::launch::async, [&] { locks.close(24h); });
  ASSERT_TRUE(clock.await_sleepers(3));
  hold.reset();
  one.get();
  two.get();
}

TEST_F(CloseTest, AKeyKeptByHoldForStaysLockedForThatTime) {
  locks.lock("k").acquire(0ms, 30s).hold_for(20s);
  locks.close(0ms);
  EXPECT_FALSE(locks.list().empty());
  clock.advance(20s);
  EXPECT_TRUE(locks.list().empty());
}

}  // namespace
}  // namespace latchkey
