// The backend contract: semaphores.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include <latchkey/detail/testing/contract/fixture.hpp>
#include <latchkey/locks.hpp>

namespace latchkey::inline v1::testing::contract {

template <class Store>
class BackendPermits : public Contract<Store> {
 protected:
  static constexpr milliseconds patience = std::chrono::seconds(5);

  /// A request about the hold `id` of the semaphore, which has 3 permits.
  [[nodiscard]] Request request(Verb verb, const HoldId& id, std::uint32_t permits = 1) const {
    Request made;
    made.verb = verb;
    made.type = LockType::PERMIT;
    made.key = this->name;
    made.id = id;
    made.lease = this->long_lease;
    made.permits = {permits, 3};
    return made;
  }
  [[nodiscard]] std::optional<PermitInfo> inspect(Probe& who) const {
    LockInfo info;
    Request asked = request(Verb::inspect, {});
    asked.info = &info;
    static_cast<void>(who.send(asked));
    return info.permits;
  }
};
TYPED_TEST_SUITE_P(BackendPermits);

TYPED_TEST_P(BackendPermits, AsManyAreGrantedAsThereAreAndAllOrNone) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().permits, "semaphores");
  const HoldId two = one.fresh_id(), single = other.fresh_id();
  EXPECT_EQ(one.send(this->request(Verb::acquire, two, 2)).kind, Kind::granted);
  const Outcome too_few = other.send(this->request(Verb::acquire, other.fresh_id(), 2));
  EXPECT_EQ(too_few.kind, Kind::busy);
  EXPECT_LE(too_few.retry_after.value_or(this->long_lease), this->long_lease);
  const Outcome last = other.send(this->request(Verb::acquire, single));
  EXPECT_EQ(last.kind, Kind::granted);
  EXPECT_EQ(last.permits_left.value_or(0), 0U);
  EXPECT_EQ(other.send(this->request(Verb::acquire, other.fresh_id())).kind, Kind::busy);
  EXPECT_EQ(one.send(this->request(Verb::release, two, 2)).kind, Kind::granted);
  EXPECT_EQ(one.send(this->request(Verb::release, two, 2)).kind, Kind::gone);
  EXPECT_EQ(other.send(this->request(Verb::acquire, other.fresh_id(), 2)).kind, Kind::granted);
}

TYPED_TEST_P(BackendPermits, ARepeatedAcquireTakesNothingMore) {
  Probe one = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().permits, "semaphores");
  const HoldId id = one.fresh_id();
  for (int again = 0; again < 3; ++again) {
    EXPECT_EQ(one.send(this->request(Verb::acquire, id, 2)).kind, Kind::granted);
  }
  EXPECT_EQ(one.send(this->request(Verb::acquire, one.fresh_id())).kind, Kind::granted);
}

TYPED_TEST_P(BackendPermits, APermitEndsWithItsLease) {
  Probe one = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().permits, "semaphores");
  const HoldId dead = one.fresh_id(), renewed = one.fresh_id();
  Request acquire = this->request(Verb::acquire, dead, 2);
  acquire.lease = this->lease;
  EXPECT_EQ(one.send(acquire).kind, Kind::granted);
  acquire = this->request(Verb::acquire, renewed);
  acquire.lease = this->lease;
  EXPECT_EQ(one.send(acquire).kind, Kind::granted);
  EXPECT_EQ(one.send(this->request(Verb::renew, renewed)).kind, Kind::granted);
  this->pass(this->lease + this->unit);
  EXPECT_EQ(one.send(this->request(Verb::acquire, one.fresh_id(), 3)).kind, Kind::busy);
  EXPECT_EQ(one.send(this->request(Verb::acquire, one.fresh_id(), 2)).kind, Kind::granted);
  EXPECT_EQ(one.send(this->request(Verb::verify, dead, 2)).kind, Kind::gone);
  EXPECT_EQ(one.send(this->request(Verb::release, dead, 2)).kind, Kind::gone);
  EXPECT_EQ(one.send(this->request(Verb::verify, renewed)).kind, Kind::granted);
}

TYPED_TEST_P(BackendPermits, AReleaseNotifiesSubscribers) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().permits && one.offers().pushes, "notices of permits");
  const HoldId id = one.fresh_id();
  EXPECT_EQ(one.send(this->request(Verb::acquire, id, 3)).kind, Kind::granted);
  EXPECT_EQ(other.send(this->request(Verb::subscribe, {})).kind, Kind::granted);
  EXPECT_EQ(one.send(this->request(Verb::release, id, 3)).kind, Kind::granted);
  const auto notes = other.notes(this->patience);
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(notes.front().kind, Notification::Kind::released);
  EXPECT_EQ(notes.front().key, this->name);
  EXPECT_EQ(other.send(this->request(Verb::unsubscribe, {})).kind, Kind::granted);
}

TYPED_TEST_P(BackendPermits, MoreThanThereAreIsRefusedAndResizeChangesHowMany) {
  Probe one = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().permits, "semaphores");
  EXPECT_EQ(one.send(this->request(Verb::acquire, one.fresh_id())).kind, Kind::granted);
  EXPECT_EQ(one.send(this->request(Verb::acquire, one.fresh_id(), 4)).kind, Kind::refused);
  Request resize = this->request(Verb::resize, {});
  resize.permits.total = 5;
  EXPECT_EQ(one.send(resize).kind, Kind::granted);
  EXPECT_EQ(this->inspect(one)->available, 4);
  EXPECT_EQ(this->inspect(one)->total, 5);
  EXPECT_EQ(one.send(this->request(Verb::acquire, one.fresh_id(), 4)).kind, Kind::granted);
}

TYPED_TEST_P(BackendPermits, NothingIsLeftOfADestroyedSemaphore) {
  Probe one = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().permits, "semaphores");
  const HoldId id = one.fresh_id();
  EXPECT_FALSE(this->inspect(one).has_value());
  EXPECT_EQ(one.send(this->request(Verb::acquire, id, 2)).kind, Kind::granted);
  EXPECT_EQ(one.send(this->request(Verb::force_release, {})).kind, Kind::granted);
  EXPECT_EQ(one.send(this->request(Verb::force_release, {})).kind, Kind::gone);
  EXPECT_FALSE(this->inspect(one).has_value());
  EXPECT_EQ(one.send(this->request(Verb::renew, id, 2)).kind, Kind::gone);
  EXPECT_EQ(one.send(this->request(Verb::release, id, 2)).kind, Kind::gone);
  EXPECT_FALSE(this->inspect(one).has_value());
}

TYPED_TEST_P(BackendPermits, AKeyIsALockOrASemaphore) {
  Probe one = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().permits, "semaphores");
  const HoldId lock = one.fresh_id();
  EXPECT_EQ(one.acquire(this->name, LockType::REENTRANT, lock, this->long_lease).kind,
            Kind::granted);
  EXPECT_EQ(one.send(this->request(Verb::acquire, one.fresh_id())).kind, Kind::refused);
  EXPECT_EQ(one.send(Verb::release, this->name, LockType::REENTRANT, lock).kind, Kind::granted);
  EXPECT_EQ(one.send(this->request(Verb::acquire, one.fresh_id())).kind, Kind::granted);
  EXPECT_EQ(one.acquire(this->name, LockType::REENTRANT, one.fresh_id(), this->long_lease).kind,
            Kind::refused);
}

TYPED_TEST_P(BackendPermits, WhatIsNotOfferedIsRefusedBeforeARequest) {
  const Locks locks(this->store.backend(), this->store.options());
  if (locks.capabilities().permits) {
    EXPECT_EQ(locks.semaphore(this->name, 3).permits(), 3);
    return;
  }
  std::string sentence;
  try {
    static_cast<void>(locks.semaphore(this->name, 3));
  } catch (const std::invalid_argument& error) {
    sentence = error.what();
  }
  EXPECT_NE(sentence.find("offers no semaphores"), std::string::npos) << sentence;
}

REGISTER_TYPED_TEST_SUITE_P(BackendPermits, AsManyAreGrantedAsThereAreAndAllOrNone,
                            ARepeatedAcquireTakesNothingMore, APermitEndsWithItsLease,
                            AReleaseNotifiesSubscribers,
                            MoreThanThereAreIsRefusedAndResizeChangesHowMany,
                            NothingIsLeftOfADestroyedSemaphore, AKeyIsALockOrASemaphore,
                            WhatIsNotOfferedIsRefusedBeforeARequest);

}  // namespace latchkey::inline v1::testing::contract
