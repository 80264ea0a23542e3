// A quorum whose allocations fail where nothing may be thrown: when a server replies.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <vector>

#include <latchkey/backend.hpp>

#include "exhaustion/quorum_fixture.hpp"
#include "exhaustion/scarce_memory.hpp"

namespace latchkey::detail::quorum {
namespace {

using namespace std::chrono_literals;

// The process ended.
TEST_F(QuorumWithoutMemory, TheGrantOfAMinorityIsReleasedAndTheOutcomeDelivered) {
  submit(Verb::acquire);
  replies_without_memory(0, Verb::acquire, Kind::granted);
  replies_without_memory(1, Verb::acquire, Kind::busy);
  replies_without_memory(2, Verb::acquire, Kind::busy);
  EXPECT_EQ(unanswered(0), std::vector{Verb::release});
  EXPECT_EQ(sink_.outcomes, 0) << "the release is waited for";
  replies_without_memory(0, Verb::release, Kind::granted);
  expect_one_outcome(Kind::busy);
}

TEST_F(QuorumWithoutMemory, ALateGrantIsReleased) {
  submit(Verb::acquire);
  replies_without_memory(1, Verb::acquire, Kind::busy);
  replies_without_memory(2, Verb::acquire, Kind::busy);
  expect_one_outcome(Kind::busy);
  EXPECT_EQ(unanswered(0), (std::vector{Verb::acquire, Verb::release}));
  replies_without_memory(0, Verb::release, Kind::gone);
  replies_without_memory(0, Verb::acquire, Kind::granted);
  EXPECT_EQ(unanswered(0), std::vector{Verb::release});
  replies_without_memory(0, Verb::release, Kind::granted);
  EXPECT_TRUE(unanswered(0).empty());
}

TEST_F(QuorumWithoutMemory, AReleaseWithoutAReplyIsRepeated) {
  hold();
  sink_ = {};
  submit(Verb::release);
  replies_without_memory(0, Verb::release, Kind::granted);
  replies_without_memory(1, Verb::release, Kind::granted);
  for (int repetition = 0; repetition < 3; ++repetition) {
    replies_without_memory(2, Verb::release, Kind::unknown);
    if (repetition == 0) expect_one_outcome(Kind::granted);
    EXPECT_TRUE(unanswered(2).empty());
    tests::fail_allocation(1);
    pass(1s);
    EXPECT_FALSE(tests::allocation_failed());
    EXPECT_EQ(unanswered(2), std::vector{Verb::release});
  }
  replies_without_memory(2, Verb::release, Kind::gone);
  pass(1s);
  EXPECT_TRUE(unanswered(2).empty());
}

TEST_F(QuorumWithoutMemory, AReleaseIsRepeatedUntilTheLeaseIsOver) {
  hold();
  submit(Verb::release);
  for (std::size_t server = 0; server < 2; ++server) replies(server, Verb::release, Kind::granted);
  replies(2, Verb::release, Kind::unknown);
  pass(29s);
  replies(2, Verb::release, Kind::unknown);
  pass(1s);
  EXPECT_TRUE(unanswered(2).empty());
}

TEST_F(QuorumWithoutMemory, AServerThatHasLostAHoldIsSentAnAcquire) {
  hold();
  sink_ = {};
  submit(Verb::renew);
  replies_without_memory(0, Verb::renew, Kind::gone);
  EXPECT_EQ(unanswered(0), std::vector{Verb::acquire});
  replies_without_memory(1, Verb::renew, Kind::granted);
  replies_without_memory(2, Verb::renew, Kind::granted);
  replies_without_memory(0, Verb::acquire, Kind::granted);
  expect_one_outcome(Kind::granted);
}

TEST_F(QuorumWithoutMemory, AHoldThatAMajorityHasLostIsReleasedEverywhere) {
  hold();
  sink_ = {};
  submit(Verb::renew);
  replies_without_memory(0, Verb::renew, Kind::gone);
  replies_without_memory(1, Verb::renew, Kind::gone);
  expect_one_outcome(Kind::gone);
  EXPECT_EQ(unanswered(0), (std::vector{Verb::acquire, Verb::release}));
  EXPECT_EQ(unanswered(1), (std::vector{Verb::acquire, Verb::release}));
  EXPECT_EQ(unanswered(2), (std::vector{Verb::renew, Verb::release}));
  replies_without_memory(0, Verb::release, Kind::gone);
  replies_without_memory(0, Verb::acquire, Kind::granted);
  EXPECT_EQ(unanswered(0), std::vector{Verb::release});
}

TEST_F(QuorumWithoutMemory, AnUnknownOutcomeIsDeliveredOnce) {
  for (std::size_t nth = 1; nth < most_allocations_of_quorum; ++nth) {
    SCOPED_TRACE(nth);
    submit(Verb::acquire);
    replies(0, Verb::acquire, Kind::unknown);
    tests::fail_allocation(nth);
    replies(1, Verb::acquire, Kind::unknown);
    const bool failed = tests::allocation_failed();
    expect_one_outcome(Kind::unknown);
    replies(2, Verb::acquire, Kind::busy);
    for (std::size_t server = 0; server < 3; ++server) replies(server, Verb::release, Kind::gone);
    if (!failed) return;
  }
  FAIL() << "it always fails";
}

TEST_F(QuorumWithoutMemory, RepliesThatDoNotArriveEndTheRequestOnce) {
  for (std::size_t nth = 1; nth < most_allocations_of_quorum; ++nth) {
    SCOPED_TRACE(nth);
    submit(Verb::acquire);
    tests::fail_allocation(nth);
    pass(51ms);
    const bool failed = tests::allocation_failed();
    expect_one_outcome(Kind::unknown);
    all_reply(Verb::acquire, Kind::busy);
    all_reply(Verb::release, Kind::gone);
    if (!failed) return;
  }
  FAIL() << "it always fails";
}

// The gate is shut by a later attempt, and opened by its lease.
TEST_F(QuorumWithoutMemory, AWriteThatIsBusyShutsTheGateLater) {
  for (std::size_t nth = 1; nth < most_allocations_of_quorum; ++nth) {
    SCOPED_TRACE(nth);
    bool failed = false;
    for (int attempt = 0; attempt < 3; ++attempt) {
      submit(Verb::acquire, LockType::WRITE);
      replies(0, Verb::acquire, Kind::busy);
      if (attempt == 1) tests::fail_allocation(nth);
      replies(1, Verb::acquire, Kind::busy);
      if (attempt == 1) failed = tests::allocation_failed();
      expect_one_outcome(Kind::busy);
      replies(2, Verb::acquire, Kind::busy);
      replies(2, Verb::release, Kind::gone);
      const bool shut = attempt == 2 || (attempt == 1 && !failed);
      if (shut) all_reply(Verb::acquire, Kind::granted);
      for (std::size_t server = 0; server < 3; ++server) EXPECT_TRUE(unanswered(server).empty());
      pass(1s);
    }
    pass(2s);
    submit(Verb::verify);  // a submit forgets the WRITE
    drive();
    expect_one_outcome(Kind::gone);
    if (!failed) return;
  }
  FAIL() << "it always fails";
}

}  // namespace
}  // namespace latchkey::detail::quorum
