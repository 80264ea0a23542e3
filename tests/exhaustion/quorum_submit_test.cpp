// A quorum whose allocations fail while a request is submitted, by it or by one of its servers.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <new>
#include <vector>

#include <latchkey/backend.hpp>

#include "backend/verbs.hpp"
#include "exhaustion/quorum_fixture.hpp"

namespace latchkey::detail::quorum {
namespace {

using namespace std::chrono_literals;

TEST_F(QuorumWithoutMemory, ASubmitThatThrowsHasSentNothing) {
  constexpr Verb verbs[] = {Verb::acquire,   Verb::renew,   Verb::verify, Verb::expire,
                            Verb::downgrade, Verb::release, Verb::leave};
  for (const Verb verb : verbs) {
    SCOPED_TRACE(to_string(verb));
    if (verb != Verb::acquire) hold(LockType::WRITE);
    sink_ = {};
    const std::size_t failures = until_it_does_not_throw([&] { submit(verb, LockType::WRITE); });
    EXPECT_GT(failures, 2U);
    all_reply(verb, Kind::granted);
    expect_one_outcome(Kind::granted);
    if (is_release(verb)) continue;
    submit(Verb::release, LockType::WRITE);
    all_reply(verb == Verb::downgrade ? Verb::leave : Verb::release, Kind::granted);
  }
}

TEST_F(QuorumWithoutMemory, AReadThatIsNotSubmittedPassesNoGate) {
  EXPECT_GT(until_it_does_not_throw([&] { submit(Verb::acquire, LockType::READ); }), 5U);
  const std::vector through_gate{Verb::acquire, Verb::acquire, Verb::release};
  for (std::size_t server = 0; server < 3; ++server) {
    EXPECT_EQ(unanswered(server), through_gate);
    replies_without_memory(server, Verb::acquire, Kind::granted);
    replies_without_memory(server, Verb::acquire, Kind::granted);
    replies_without_memory(server, Verb::release, Kind::granted);
  }
  expect_one_outcome(Kind::granted);
}

TEST_F(QuorumWithoutMemory, SeveralRequestsAreSubmittedTogetherOrNotAtAll) {
  Request other;
  other.key = "other";
  other.id = {{1, 2}, 4};
  other.lease = 30s;
  prepare(Verb::acquire);
  Request* const both[] = {&request_, &other};
  until_it_does_not_throw([&] { quorum_->submit(both, sink_); });
  for (int request = 0; request < 2; ++request) all_reply(Verb::acquire, Kind::granted);
  EXPECT_EQ(sink_.outcomes, 2);
}

TEST_F(QuorumWithoutMemory, AServerWithoutMemoryCountsAsSilent) {
  servers_[1]->out_of_memory = true;
  submit(Verb::acquire);
  EXPECT_TRUE(unanswered(1).empty());
  replies(0, Verb::acquire, Kind::granted);
  replies(2, Verb::acquire, Kind::granted);
  expect_one_outcome(Kind::granted);
}

TEST_F(QuorumWithoutMemory, ARequestThatNoServerHasMemoryForEndsWithTheNextDrive) {
  for (AnsweringServer* const server : servers_) server->out_of_memory = true;
  submit(Verb::acquire);
  EXPECT_EQ(sink_.outcomes, 0) << "a submit calls no sink";
  drive();
  expect_one_outcome(Kind::unknown);
  for (AnsweringServer* const server : servers_) server->out_of_memory = false;
  drive();
  for (std::size_t server = 0; server < 3; ++server) {
    EXPECT_TRUE(unanswered(server).empty()) << "nothing was sent, and nothing is to be released";
  }
}

TEST_F(QuorumWithoutMemory, AReleaseThatAServerHasNoMemoryForIsSentByTheNextDrive) {
  hold();
  sink_ = {};
  for (AnsweringServer* const server : servers_) server->out_of_memory = true;
  submit(Verb::release);
  drive();
  EXPECT_EQ(sink_.outcomes, 0);
  for (AnsweringServer* const server : servers_) server->out_of_memory = false;
  drive();
  all_reply(Verb::release, Kind::granted);
  expect_one_outcome(Kind::granted);
}

TEST_F(QuorumWithoutMemory, TheGrantOfAMinorityIsReleasedByTheNextDrive) {
  submit(Verb::acquire);
  replies(0, Verb::acquire, Kind::granted);
  replies(1, Verb::acquire, Kind::busy);
  servers_[0]->out_of_memory = true;
  replies(2, Verb::acquire, Kind::busy);
  drive();
  EXPECT_EQ(sink_.outcomes, 0) << "the release is waited for";
  servers_[0]->out_of_memory = false;
  drive();
  replies(0, Verb::release, Kind::granted);
  expect_one_outcome(Kind::busy);
}

TEST_F(QuorumWithoutMemory,
       AReleaseThatAServerNeverHasMemoryForIsNotWaitedForLongerThanASilentOne) {
  submit(Verb::acquire);
  replies(0, Verb::acquire, Kind::granted);
  replies(1, Verb::acquire, Kind::busy);
  servers_[0]->out_of_memory = true;
  replies(2, Verb::acquire, Kind::busy);
  pass(51ms);
  expect_one_outcome(Kind::busy);
  servers_[0]->out_of_memory = false;
  drive();
  EXPECT_EQ(unanswered(0), std::vector{Verb::release});
}

// Its poll threw, and the outcome of a call was not delivered.
TEST_F(QuorumWithoutMemory, AServerWithoutMemoryForItsDriveKeepsNoOtherFromBeingDriven) {
  submit(Verb::acquire);
  for (AnsweringServer* const server : servers_) {
    server->on_drive = [](Parker&) { throw std::bad_alloc(); };
  }
  for (int drives = 0; drives < 3; ++drives) drive();
  EXPECT_EQ(servers_[1]->drives, 3);
  pass(51ms);
  expect_one_outcome(Kind::unknown);
}

}  // namespace
}  // namespace latchkey::detail::quorum
