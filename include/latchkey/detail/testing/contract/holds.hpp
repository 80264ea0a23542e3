// The backend contract of holds: exclusion, leases, and how a hold ends.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/testing/contract/fixture.hpp>

namespace latchkey::inline v1::testing::contract {

template <class Store>
class BackendHolds : public Contract<Store> {};
TYPED_TEST_SUITE_P(BackendHolds);

TYPED_TEST_P(BackendHolds, ExclusiveTypesHaveOneHolder) {
  Probe one = this->connect(), other = this->connect();
  for (const LockType type : this->exclusive(one.offers())) {
    SCOPED_TRACE(to_string(type));
    const std::string key = this->store.fresh_key();
    const HoldId first = one.fresh_id(), second = other.fresh_id();
    EXPECT_EQ(one.acquire(key, type, first, this->long_lease).kind, Kind::granted);
    const Outcome refused = other.acquire(key, type, second, this->long_lease);
    EXPECT_EQ(refused.kind, Kind::busy);
    if (refused.retry_after) {
      EXPECT_GT(*refused.retry_after, milliseconds(0));
      EXPECT_LE(*refused.retry_after, this->long_lease);
    }
    const bool names_first = refused.holder.empty() || refused.holder == first.text();
    EXPECT_TRUE(names_first || !this->shows_ids) << refused.holder;
    EXPECT_EQ(one.send(Verb::release, key, type, first).kind, Kind::granted);
    EXPECT_EQ(other.acquire(key, type, second, this->long_lease).kind, Kind::granted);
    EXPECT_EQ(other.send(Verb::release, key, type, second).kind, Kind::granted);
  }
}

TYPED_TEST_P(BackendHolds, ReadersShareAndAWriterDoesNot) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().read_write, "READ and WRITE");
  const HoldId reader = one.fresh_id(), second = other.fresh_id(), writer = other.fresh_id();
  EXPECT_EQ(one.acquire(this->name, LockType::READ, reader, this->long_lease).kind, Kind::granted);
  EXPECT_EQ(other.acquire(this->name, LockType::READ, second, this->long_lease).kind,
            Kind::granted);
  EXPECT_EQ(other.acquire(this->name, LockType::WRITE, writer, this->long_lease).kind, Kind::busy);
  EXPECT_EQ(one.send(Verb::release, this->name, LockType::READ, reader).kind, Kind::granted);
  EXPECT_EQ(other.acquire(this->name, LockType::WRITE, writer, this->long_lease).kind, Kind::busy);
  EXPECT_EQ(other.send(Verb::release, this->name, LockType::READ, second).kind, Kind::granted);
  EXPECT_EQ(other.acquire(this->name, LockType::WRITE, writer, this->long_lease).kind,
            Kind::granted);
  EXPECT_EQ(one.acquire(this->name, LockType::READ, one.fresh_id(), this->long_lease).kind,
            Kind::busy);
}

TYPED_TEST_P(BackendHolds, AHolderIsGrantedAgainWithANewLease) {
  Probe one = this->connect(), other = this->connect();
  for (const LockType type : this->types(one.offers())) {
    SCOPED_TRACE(to_string(type));
    const std::string key = this->store.fresh_key();
    const HoldId id = one.fresh_id();
    const Outcome first = one.acquire(key, type, id, this->lease);
    EXPECT_EQ(first.kind, Kind::granted);
    const Outcome again = one.acquire(key, type, id, this->long_lease);
    EXPECT_EQ(again.kind, Kind::granted);
    EXPECT_EQ(again.token, first.token);
    this->pass(this->lease + this->unit);
    if (type != LockType::READ) {
      EXPECT_EQ(other.acquire(key, type, other.fresh_id(), this->lease).kind, Kind::busy);
    }
    // Two grants to one id are one hold: one release ends it.
    EXPECT_EQ(one.send(Verb::release, key, type, id).kind, Kind::granted);
    EXPECT_EQ(other.acquire(key, type, other.fresh_id(), this->long_lease).kind, Kind::granted);
  }
}

TYPED_TEST_P(BackendHolds, AnotherTypeOfAHeldKeyIsBusy) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().read_write && one.offers().reentrant, "two families");
  const HoldId plain = one.fresh_id();
  EXPECT_EQ(one.acquire(this->name, LockType::REENTRANT, plain, this->long_lease).kind,
            Kind::granted);
  for (const LockType type : {LockType::READ, LockType::WRITE}) {
    EXPECT_EQ(other.acquire(this->name, type, other.fresh_id(), this->lease).kind, Kind::busy);
  }
  EXPECT_EQ(one.send(Verb::release, this->name, LockType::REENTRANT, plain).kind, Kind::granted);
  const HoldId reader = one.fresh_id();
  EXPECT_EQ(one.acquire(this->name, LockType::READ, reader, this->long_lease).kind, Kind::granted);
  EXPECT_EQ(other.acquire(this->name, LockType::REENTRANT, other.fresh_id(), this->lease).kind,
            Kind::busy);
}

TYPED_TEST_P(BackendHolds, AnExpiredLeaseFreesTheKey) {
  Probe one = this->connect(), other = this->connect();
  for (const LockType type : this->types(one.offers())) {
    SCOPED_TRACE(to_string(type));
    const std::string key = this->store.fresh_key();
    const HoldId late = one.fresh_id(), next = other.fresh_id();
    EXPECT_EQ(one.acquire(key, type, late, this->lease).kind, Kind::granted);
    this->pass(this->lease + this->unit);
    EXPECT_EQ(one.renew(key, type, late, this->lease).kind, Kind::gone);
    EXPECT_EQ(other.acquire(key, type, next, this->long_lease).kind, Kind::granted);
    EXPECT_EQ(one.send(Verb::release, key, type, late).kind, Kind::gone);
    EXPECT_EQ(other.renew(key, type, next, this->long_lease).kind, Kind::granted);
  }
}

TYPED_TEST_P(BackendHolds, RenewExtendsTheLeaseAndNeverShortensIt) {
  Probe one = this->connect(), other = this->connect();
  for (const LockType type : this->types(one.offers())) {
    SCOPED_TRACE(to_string(type));
    const std::string key = this->store.fresh_key();
    const HoldId id = one.fresh_id();
    EXPECT_EQ(one.renew(key, type, id, this->lease).kind, Kind::gone);
    EXPECT_EQ(one.acquire(key, type, id, this->lease).kind, Kind::granted);
    EXPECT_EQ(one.renew(key, type, id, this->long_lease).kind, Kind::granted);
    EXPECT_EQ(one.renew(key, type, id, this->unit).kind, Kind::granted);
    this->pass(this->lease + this->unit);
    EXPECT_EQ(one.renew(key, type, id, this->unit).kind, Kind::granted);
    EXPECT_EQ(other.renew(key, type, other.fresh_id(), this->lease).kind, Kind::gone);
  }
}

TYPED_TEST_P(BackendHolds, VerifyReportsTheHoldAndChangesNothing) {
  LATCHKEY_DETAIL_OFFERED(this->verifies, "verify that asks the store");
  Probe one = this->connect(), other = this->connect();
  for (const LockType type : this->types(one.offers())) {
    SCOPED_TRACE(to_string(type));
    const std::string key = this->store.fresh_key();
    const HoldId id = one.fresh_id();
    EXPECT_EQ(one.send(Verb::verify, key, type, id).kind, Kind::gone);
    EXPECT_EQ(one.acquire(key, type, id, this->lease).kind, Kind::granted);
    EXPECT_EQ(one.send(Verb::verify, key, type, id).kind, Kind::granted);
    EXPECT_EQ(other.send(Verb::verify, key, type, other.fresh_id()).kind, Kind::gone);
    this->pass(this->lease + this->unit);
    EXPECT_EQ(one.send(Verb::verify, key, type, id).kind, Kind::gone);
  }
}

TYPED_TEST_P(BackendHolds, AReleaseFreesItsOwnIdOnly) {
  Probe one = this->connect(), other = this->connect();
  for (const LockType type : this->types(one.offers())) {
    SCOPED_TRACE(to_string(type));
    const std::string key = this->store.fresh_key();
    const HoldId id = one.fresh_id();
    EXPECT_EQ(one.send(Verb::release, key, type, id).kind, Kind::gone);
    EXPECT_EQ(one.acquire(key, type, id, this->long_lease).kind, Kind::granted);
    EXPECT_EQ(other.send(Verb::release, key, type, other.fresh_id()).kind, Kind::gone);
    EXPECT_EQ(one.renew(key, type, id, this->long_lease).kind, Kind::granted);
    EXPECT_EQ(one.send(Verb::release, key, type, id).kind, Kind::granted);
    EXPECT_EQ(one.send(Verb::release, key, type, id).kind, Kind::gone);
  }
}

TYPED_TEST_P(BackendHolds, LeaveByTheHolderReleases) {
  Probe one = this->connect(), other = this->connect();
  for (const LockType type : this->types(one.offers())) {
    SCOPED_TRACE(to_string(type));
    const std::string key = this->store.fresh_key();
    const HoldId id = one.fresh_id();
    EXPECT_EQ(one.send(Verb::leave, key, type, id).kind, Kind::gone);
    EXPECT_EQ(one.acquire(key, type, id, this->long_lease).kind, Kind::granted);
    EXPECT_EQ(one.send(Verb::leave, key, type, id).kind, Kind::granted);
    EXPECT_EQ(other.acquire(key, type, other.fresh_id(), this->long_lease).kind, Kind::granted);
  }
}

TYPED_TEST_P(BackendHolds, DowngradeTurnsAWriteIntoARead) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().read_write, "READ and WRITE");
  const HoldId id = one.fresh_id(), reader = other.fresh_id();
  EXPECT_EQ(one.downgrade(this->name, id, this->lease).kind, Kind::gone);
  EXPECT_EQ(one.acquire(this->name, LockType::WRITE, id, this->long_lease).kind, Kind::granted);
  EXPECT_EQ(other.acquire(this->name, LockType::READ, reader, this->long_lease).kind, Kind::busy);
  EXPECT_EQ(one.downgrade(this->name, id, this->long_lease).kind, Kind::granted);
  EXPECT_EQ(other.acquire(this->name, LockType::READ, reader, this->long_lease).kind,
            Kind::granted);
  EXPECT_EQ(other.acquire(this->name, LockType::WRITE, other.fresh_id(), this->lease).kind,
            Kind::busy);
  EXPECT_EQ(one.send(Verb::release, this->name, LockType::READ, id).kind, Kind::granted);
}

TYPED_TEST_P(BackendHolds, LeaveOfAWriteReleasesItsDowngradedRead) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().read_write, "READ and WRITE");
  const HoldId id = one.fresh_id();
  EXPECT_EQ(one.acquire(this->name, LockType::WRITE, id, this->long_lease).kind, Kind::granted);
  EXPECT_EQ(one.downgrade(this->name, id, this->long_lease).kind, Kind::granted);
  EXPECT_EQ(one.send(Verb::leave, this->name, LockType::WRITE, id).kind, Kind::granted);
  EXPECT_EQ(other.acquire(this->name, LockType::WRITE, other.fresh_id(), this->lease).kind,
            Kind::granted);
}

TYPED_TEST_P(BackendHolds, AcquireAllHoldsEachMemberByItsType) {
  Probe one = this->connect(), other = this->connect();
  const Capabilities offered = one.offers();
  LATCHKEY_DETAIL_OFFERED(offered.one_step == Capabilities::OneStep::all,
                          "acquire_all of any keys");
  LATCHKEY_DETAIL_OFFERED(offered.read_write && offered.fenced, "READ, WRITE and FENCED");
  const std::string keys[] = {this->name, this->store.fresh_key(), this->store.fresh_key(),
                              this->store.fresh_key()};
  const std::vector<Member> members = {{keys[0], LockType::READ, one.fresh_id()},
                                       {keys[1], LockType::WRITE, one.fresh_id()},
                                       {keys[2], LockType::FENCED, one.fresh_id()},
                                       {keys[3], LockType::REENTRANT, one.fresh_id()}};
  const HoldId reader = other.fresh_id(), second = other.fresh_id();
  EXPECT_EQ(other.acquire(keys[0], LockType::READ, reader, this->long_lease).kind, Kind::granted);
  EXPECT_EQ(other.acquire(keys[1], LockType::READ, second, this->long_lease).kind, Kind::granted);
  Request all;
  all.verb = Verb::acquire_all;
  all.members = members;
  all.lease = this->long_lease;
  const Outcome busy = one.send(all);
  EXPECT_EQ(busy.kind, Kind::busy);
  EXPECT_EQ(busy.busy_member, 1U);
  EXPECT_FALSE(busy.holder.empty());
  EXPECT_EQ(other.send(Verb::release, keys[1], LockType::READ, second).kind, Kind::granted);
  const Outcome granted = one.send(all);
  EXPECT_EQ(granted.kind, Kind::granted);
  EXPECT_GT(granted.token, 0U);
  // Repeated, as if the reply had been lost: nothing changes.
  const Outcome again = one.send(all);
  EXPECT_EQ(again.kind, Kind::granted);
  EXPECT_EQ(again.token, granted.token);
  for (const Member& member : members) {
    EXPECT_EQ(one.renew(member.key, member.type, member.id, this->long_lease).kind, Kind::granted);
    EXPECT_EQ(other.acquire(member.key, LockType::REENTRANT, other.fresh_id(), this->lease).kind,
              Kind::busy);
  }
  for (const Member& member : members) {
    EXPECT_EQ(one.send(Verb::release, member.key, member.type, member.id).kind, Kind::granted);
  }
  const HoldId next = other.fresh_id();
  const Outcome later = other.acquire(keys[2], LockType::FENCED, next, this->long_lease);
  EXPECT_EQ(later.kind, Kind::granted);
  EXPECT_GT(later.token, granted.token);
}

TYPED_TEST_P(BackendHolds, AcquireAllTakesAllOrNothing) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().one_step == Capabilities::OneStep::all,
                          "acquire_all of any keys");
  const std::string keys[] = {this->name, this->store.fresh_key(), this->store.fresh_key()};
  std::vector<Member> members;
  for (const std::string& each : keys) {
    members.push_back({each, LockType::REENTRANT, one.fresh_id()});
  }
  const HoldId blocker = other.fresh_id();
  EXPECT_EQ(other.acquire(keys[1], LockType::REENTRANT, blocker, this->long_lease).kind,
            Kind::granted);
  Request all;
  all.verb = Verb::acquire_all;
  all.members = members;
  all.lease = this->long_lease;
  const Outcome refused = one.send(all);
  EXPECT_EQ(refused.kind, Kind::busy);
  EXPECT_EQ(refused.busy_member, 1U);
  const HoldId passing = other.fresh_id();
  EXPECT_EQ(other.acquire(keys[0], LockType::REENTRANT, passing, this->lease).kind, Kind::granted);
  EXPECT_EQ(other.send(Verb::release, keys[0], LockType::REENTRANT, passing).kind, Kind::granted);
  EXPECT_EQ(other.send(Verb::release, keys[1], LockType::REENTRANT, blocker).kind, Kind::granted);
  EXPECT_EQ(one.send(all).kind, Kind::granted);
  for (const Member& member : members) {
    EXPECT_EQ(one.renew(member.key, member.type, member.id, this->long_lease).kind, Kind::granted);
  }
}

TYPED_TEST_P(BackendHolds, OnlyTheNextChangeBySomebodyElseOfAWatchedKeyIsNotified) {
  constexpr milliseconds patience = std::chrono::seconds(5);
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().watches, "notifications about watched keys");
  const auto type = LockType::REENTRANT;
  Request renew;
  renew.verb = Verb::renew;
  renew.key = this->name;
  renew.id = one.fresh_id();
  renew.lease = this->long_lease;
  EXPECT_EQ(one.acquire(this->name, type, renew.id, this->long_lease).kind, Kind::granted);
  renew.watch = true;
  EXPECT_EQ(one.send(renew).kind, Kind::granted);
  EXPECT_EQ(one.send(renew).kind, Kind::granted);
  EXPECT_TRUE(one.notes().empty()) << "these changes are its own";
  EXPECT_EQ(other.send(Verb::force_release, this->name).kind, Kind::granted);
  const auto notes = one.notes(patience);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].kind, Notification::Kind::changed);
  EXPECT_EQ(notes[0].key, this->name);
  renew.watch = false;
  EXPECT_EQ(one.send(renew).kind, Kind::gone);
  EXPECT_EQ(other.acquire(this->name, type, other.fresh_id(), this->long_lease).kind,
            Kind::granted);
  EXPECT_EQ(one.send(renew).kind, Kind::gone);
  EXPECT_TRUE(one.notes().empty()) << "nobody has asked for more";
}

REGISTER_TYPED_TEST_SUITE_P(BackendHolds, ExclusiveTypesHaveOneHolder,
                            ReadersShareAndAWriterDoesNot, AHolderIsGrantedAgainWithANewLease,
                            AnotherTypeOfAHeldKeyIsBusy, AnExpiredLeaseFreesTheKey,
                            RenewExtendsTheLeaseAndNeverShortensIt,
                            VerifyReportsTheHoldAndChangesNothing, AReleaseFreesItsOwnIdOnly,
                            LeaveByTheHolderReleases, DowngradeTurnsAWriteIntoARead,
                            LeaveOfAWriteReleasesItsDowngradedRead,
                            AcquireAllHoldsEachMemberByItsType, AcquireAllTakesAllOrNothing,
                            OnlyTheNextChangeBySomebodyElseOfAWatchedKeyIsNotified);

}  // namespace latchkey::inline v1::testing::contract
