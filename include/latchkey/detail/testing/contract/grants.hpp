// The backend contract: the process queue.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <latchkey/detail/testing/contract/fixture.hpp>

namespace latchkey::inline v1::testing::contract {

template <class Store>
class BackendGrants : public Contract<Store> {
 protected:
  /// In real time: how long a notification may take, and how long none is awaited.
  static constexpr milliseconds patience = std::chrono::seconds(5);
  static constexpr milliseconds silence{20};

  [[nodiscard]] Request request(Verb verb, const HoldId& id, LockType type) const {
    Request made;
    made.verb = verb;
    made.key = this->name;
    made.type = type;
    made.id = id;
    made.lease = this->long_lease;
    made.queues = true;
    return made;
  }
  /// A process that listens to grants. Returns the number of its place.
  std::uint64_t wait(Probe& who, const HoldId& id, LockType type) {
    const HoldId process{id.space, 0};
    EXPECT_EQ(who.send(request(Verb::subscribe, process, LockType::REENTRANT)).kind, Kind::granted);
    const Outcome busy = who.send(request(Verb::acquire, id, type));
    EXPECT_EQ(busy.kind, Kind::busy);
    return busy.place;
  }
};
TYPED_TEST_SUITE_P(BackendGrants);

TYPED_TEST_P(BackendGrants, AReleaseGrantsToTheProcessThatWaitsTheLongest) {
  Probe one = this->connect(), other = this->connect(), third = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().grants, "grants by a release");
  const auto type = one.offers().fenced ? LockType::FENCED : LockType::REENTRANT;
  const HoldId holder = one.fresh_id(), next = other.fresh_id(), last = third.fresh_id();
  EXPECT_EQ(one.send(this->request(Verb::acquire, holder, type)).kind, Kind::granted);
  const std::uint64_t place = this->wait(other, next, type);
  EXPECT_GT(place, 0U);
  EXPECT_GT(this->wait(third, last, type), place);
  this->pass(this->unit);  // until then a store may let others take the lock first
  EXPECT_EQ(one.send(Verb::release, this->name, type, holder).kind, Kind::granted);
  const auto notes = other.notes(this->patience);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].kind, Notification::Kind::granted);
  EXPECT_EQ(notes[0].id, next);
  EXPECT_EQ(notes[0].place, place);
  EXPECT_EQ(notes[0].token != 0, type == LockType::FENCED);
  EXPECT_TRUE(third.notes(this->silence).empty());
  EXPECT_EQ(other.send(Verb::verify, this->name, type, next).kind, Kind::granted);
  EXPECT_EQ(third.send(Verb::verify, this->name, type, last).kind, Kind::gone);
}

TYPED_TEST_P(BackendGrants, AProcessThatLeftTheQueueIsGrantedNothing) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().grants, "grants by a release");
  const auto type = LockType::REENTRANT;
  const HoldId holder = one.fresh_id(), left = other.fresh_id();
  EXPECT_EQ(one.send(this->request(Verb::acquire, holder, type)).kind, Kind::granted);
  EXPECT_GT(this->wait(other, left, type), 0U);
  EXPECT_EQ(other.send(this->request(Verb::leave, left, type)).kind, Kind::granted);
  EXPECT_EQ(one.send(Verb::release, this->name, type, holder).kind, Kind::granted);
  EXPECT_TRUE(other.notes(this->silence).empty());
  const HoldId next = one.fresh_id();
  EXPECT_EQ(one.send(this->request(Verb::acquire, next, type)).kind, Kind::granted);
  EXPECT_EQ(one.send(Verb::release, this->name, type, next).kind, Kind::granted);
}

REGISTER_TYPED_TEST_SUITE_P(BackendGrants, AReleaseGrantsToTheProcessThatWaitsTheLongest,
                            AProcessThatLeftTheQueueIsGrantedNothing);

}  // namespace latchkey::inline v1::testing::contract
