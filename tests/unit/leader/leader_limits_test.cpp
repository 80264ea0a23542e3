// Tests of the arguments that a Leader refuses, and of a Leader in a forked child.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>

#include <latchkey/error.hpp>
#include <latchkey/leader.hpp>
#include <latchkey/testing/mock_backend.hpp>

#include "support/child.hpp"
#include "support/manual_locks.hpp"
#include "support/no_threads.hpp"
#include "unit/leader/duty.hpp"

namespace latchkey {
namespace {

using namespace std::chrono_literals;

class LeaderInAChild : public ::testing::Test, public tests::ManualLocks {
 protected:
  tests::Duty one_duty, other_duty;
};

std::string refusal(const Locks& locks, const Leader::Callback& callback,
                    const LeaderOptions& options = {}) {
  try {
    const Leader leader = locks.leader("k", callback, options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(LeaderOptionsTest, AreChecked) {
  const Locks locks = Locks::connect("memory:");
  const Leader::Callback nothing = [](const std::stop_token&, std::uint64_t) {};
  EXPECT_EQ(refusal(locks, {}), "the callback of a Leader is empty");
  EXPECT_EQ(refusal(locks, nothing, {.stop_before = 16s}),
            "LeaderOptions::stop_before is 16000 ms; expected 1 to 15000 ms");
  EXPECT_EQ(refusal(locks, nothing, {.pause = 0ms}),
            "LeaderOptions::pause is 0 ms; expected 1 to 86400000 ms");
  EXPECT_EQ(refusal(locks, nothing, {.pause = 5s, .longest_pause = 4s}),
            "LeaderOptions::longest_pause is 4000 ms; expected 5000 to 86400000 ms");
  EXPECT_EQ(refusal(locks, nothing, {.stop_before = 15s}), "accepted");
  EXPECT_THROW(static_cast<void>(locks.leader("", nothing)), KeyError);
}

TEST(LeaderOptionsTest, ABackendWithoutFencingTokensIsRefused) {
  auto backend = std::make_unique<::testing::NiceMock<latchkey::testing::MockBackend>>();
  backend->offer({.reentrant = true});
  const Locks locks(std::move(backend));
  EXPECT_EQ(refusal(locks, [](const std::stop_token&, std::uint64_t) {}),
            "mock: offers no FENCED locks, whose token is the term of a Leader; expected a "
            "backend with fencing tokens, such as redis://");
}

TEST(LeaderThreads, AreRequired) {
  if (!tests::NoThreads::possible()) GTEST_SKIP() << "threads cannot be made impossible here";
  const Locks locks = Locks::connect("memory:");
  const tests::NoThreads none;
  try {
    const Leader leader = locks.leader("k", [](const std::stop_token&, std::uint64_t) {});
    FAIL() << "it was made without threads";
  } catch (const std::system_error& error) {
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("the two threads of the Leader of 'k' cannot be created; raise "
                                 "the limit on threads"))
        << error.what();
  }
}

TEST_F(LeaderInAChild, HasEnded) {
  const Leader leader = locks.leader("k", one_duty.callback());
  ASSERT_TRUE(one_duty.await_terms(1));
  auto inherited =
      std::unique_ptr<Leader>(new Leader(locks.leader("other", other_duty.callback())));
  ASSERT_TRUE(other_duty.await_terms(1));
  EXPECT_EQ(tests::in_child([&](tests::Findings& findings) {
              CHILD_EXPECT(findings, !leader.is_leader());
              CHILD_EXPECT(findings, leader.health().state == LeaderState::ended);
              CHILD_EXPECT(findings, !inherited->resign());
              inherited.reset();
            }),
            "");
  EXPECT_TRUE(leader.is_leader());
  EXPECT_TRUE(inherited->is_leader());
}

}  // namespace
}  // namespace latchkey
