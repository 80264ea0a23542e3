// Fencing tokens of types other than FENCED: Attempt::fenced.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/fence.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/mock_backend.hpp>

#include "support/manual_locks.hpp"
#include "support/refusal.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;

Attempt attempt_with_token(LockType type, Wait wait = 0ms) {
  return {.type = type, .wait = wait, .fenced = true};
}

class FencedTest : public ::testing::Test, public tests::ManualLocks {};

TEST_F(FencedTest, TokensOfOneKeyRiseWhateverItsTypes) {
  std::uint64_t last = 0;
  for (const LockType type : {LockType::WRITE, LockType::FENCED, LockType::FAIR, LockType::WRITE}) {
    const Hold hold = locks.acquire("k", attempt_with_token(type));
    ASSERT_GT(hold.fencing_token().value_or(0), last) << to_string(type);
    last = *hold.fencing_token();
    EXPECT_EQ(hold.type(), type);
    EXPECT_EQ(hold.fence()->text(),
              "k/" + std::string(to_string(type)) + "/" + std::to_string(last));
  }
}

TEST_F(FencedTest, AReentrantWithATokenIsAFencedLock) {
  const Hold hold = locks.acquire("k", attempt_with_token(LockType::REENTRANT));
  EXPECT_EQ(hold.type(), LockType::FENCED);
  EXPECT_TRUE(hold.fence());
}

TEST_F(FencedTest, WhoAsksForNoTokenSeesNone) {
  for (const LockType type : {LockType::WRITE, LockType::FAIR}) {
    EXPECT_TRUE(locks.acquire("k", attempt_with_token(type)).fence());
    const Hold hold = locks.acquire("k", {.type = type});
    EXPECT_FALSE(hold.fencing_token());
    EXPECT_FALSE(hold.fence());
  }
}

TEST_F(FencedTest, AnEventOfAWriteHasItsToken) {
  const Hold hold = locks.acquire("k", attempt_with_token(LockType::WRITE));
  ASSERT_TRUE(recorder.await(Event::Kind::granted));
  EXPECT_EQ(recorder.of(Event::Kind::granted).front().fencing_token, hold.fencing_token());
}

TEST_F(FencedTest, AReentryHasTheTokenOfTheHoldIfItAsksForOne) {
  const Hold outer = locks.acquire("k", attempt_with_token(LockType::WRITE));
  const Hold inner = locks.acquire("k", attempt_with_token(LockType::WRITE));
  EXPECT_EQ(inner.fencing_token(), outer.fencing_token());
  EXPECT_FALSE(locks.acquire("k", {.type = LockType::WRITE}).fencing_token());
  EXPECT_FALSE(locks.acquire("k", {.type = LockType::READ}).fencing_token());
}

TEST_F(FencedTest, AReentryIntoAHoldWithoutATokenIsRefused) {
  const Hold outer = locks.acquire("k", {.type = LockType::WRITE});
  try {
    static_cast<void>(locks.acquire("k", attempt_with_token(LockType::WRITE)));
    FAIL() << "it was granted";
  } catch (const WouldDeadlock& error) {
    EXPECT_NE(std::string(error.what())
                  .find("who holds it as WRITE without a fencing token: say .fenced() there, too"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(FencedTest, SharedTypesHaveNoToken) {
  EXPECT_EQ(
      tests::refusal(
          [&] { static_cast<void>(locks.acquire("k", attempt_with_token(LockType::READ))); }),
      "memory: gives no fencing token to READ, which several owners hold at a time: say WRITE");
  Attempt permit = attempt_with_token(LockType::PERMIT);
  permit.permits = {1, 3};
  EXPECT_EQ(
      tests::refusal([&] { static_cast<void>(locks.try_acquire("k", permit)); }),
      "memory: gives no fencing token to PERMIT, which several owners hold at a time: say WRITE");
}

TEST_F(FencedTest, ABackendWithoutTokensRefusesAtTheCall) {
  auto backend = std::make_unique<::testing::NiceMock<testing::MockBackend>>(clock);
  Capabilities offered = backend->capabilities();
  offered.tokens = false;
  backend->offer(offered);
  const Locks poor(std::move(backend), {.clock = &clock});
  EXPECT_TRUE(poor.acquire("k", attempt_with_token(LockType::REENTRANT)).fence());
  const std::vector<std::string> keys{"a", "b"};
  for (const std::string& sentence :
       {tests::refusal(
            [&] { static_cast<void>(poor.acquire("k", attempt_with_token(LockType::WRITE))); }),
        tests::refusal([&] {
          static_cast<void>(poor.acquire_all(keys, attempt_with_token(LockType::WRITE)));
        })}) {
    EXPECT_TRUE(sentence.ends_with(" gives no fencing token to WRITE, only to FENCED: say FENCED"))
        << sentence;
  }
  EXPECT_FALSE(poor.acquire("k", {.type = LockType::WRITE}).fence());
}

TEST(FencedKeys, EachKeyHasATokenByItsNameAndByItsPlace) {
  const Locks locks = Locks::connect("memory:", {.prefix = "shop:"});
  const std::vector<std::string> keys{"account:9", "account:1", "account:9", "account:5"};
  for (const bool patient : {false, true}) {
    const Hold hold = patient ? locks.acquire_all(keys, attempt_with_token(LockType::WRITE))
                              : *locks.try_acquire_all(keys, attempt_with_token(LockType::WRITE));
    EXPECT_FALSE(hold.fencing_token()) << "there are several";
    EXPECT_FALSE(hold.fence());
    for (std::size_t index = 0; index < keys.size(); ++index) {
      const auto fence = hold.fence(index);
      ASSERT_TRUE(fence) << index;
      EXPECT_EQ(fence->key, keys[index]);
      EXPECT_EQ(fence->type, LockType::WRITE);
      EXPECT_EQ(hold.fencing_token(index), fence->token);
      EXPECT_EQ(hold.fencing_token(keys[index]), fence->token);
      EXPECT_EQ(hold.fence(keys[index])->text(), fence->text());
    }
    EXPECT_FALSE(hold.fencing_token(keys.size()));
    EXPECT_FALSE(hold.fence(keys.size()));
    EXPECT_FALSE(hold.fence("shop:account:1")) << "a key is named without the prefix";
  }
}

TEST(FencedKeys, TwoKeysThatAreTakenAtOnceKeepTheirPlaces) {
  const Locks locks = Locks::connect("memory:");
  const std::vector<std::string> keys{"b", "a"};
  const Hold hold = locks.acquire_all(keys, attempt_with_token(LockType::WRITE));
  EXPECT_EQ(hold.fence(std::size_t{0})->key, "b");
  EXPECT_EQ(hold.fence(std::size_t{1})->key, "a");
  const Hold plain = locks.acquire_all(std::vector<std::string>{"d", "c"}, {});
  EXPECT_FALSE(plain.fence(std::size_t{0}));
}

TEST(FencedKeys, OneKeyHasTheFirstPlace) {
  const Locks locks = Locks::connect("memory:", {.prefix = "shop:"});
  const Hold hold = locks.acquire("account:1", attempt_with_token(LockType::WRITE));
  EXPECT_EQ(hold.fencing_token("account:1"), hold.fencing_token());
  EXPECT_EQ(hold.fencing_token(std::size_t{0}), hold.fencing_token());
  EXPECT_EQ(hold.fence(std::size_t{0})->text(), hold.fence()->text());
  EXPECT_FALSE(hold.fencing_token(std::size_t{1}));
  EXPECT_FALSE(hold.fencing_token("account:2"));
}

// The threads of one process pass a lock on among themselves, with and without a token in turn.
TEST(FencedHandOff, EachHolderThatAskedHasAHigherToken) {
  for (const LockType type : {LockType::WRITE, LockType::FENCED, LockType::FAIR}) {
    const Locks locks = Locks::connect("memory:");
    std::vector<std::uint64_t> tokens;  // guarded by the lock
    const auto work = [&](unsigned seed) {
      std::minstd_rand random(seed);
      for (int round = 0; round < 200; ++round) {
        const bool fenced = type == LockType::FENCED || random() % 4 != 0;
        const Hold hold = locks.acquire("k", {.type = type, .wait = 60s, .fenced = fenced});
        ASSERT_EQ(hold.fencing_token().has_value(), fenced);
        if (fenced) tokens.push_back(*hold.fencing_token());
        if (fenced && round % 16 == 0) std::this_thread::yield();
      }
    };
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < 4; ++thread) threads.emplace_back(work, 7 + thread);
    for (std::thread& thread : threads) thread.join();
    EXPECT_GT(tokens.size(), 400U);
    for (std::size_t index = 1; index < tokens.size(); ++index) {
      ASSERT_LT(tokens[index - 1], tokens[index]) << to_string(type) << ' ' << index;
    }
  }
}

}  // namespace
}  // namespace latchkey
