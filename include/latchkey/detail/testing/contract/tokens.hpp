// The backend contract: fencing tokens of other types than FENCED.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/detail/testing/contract/fixture.hpp>

namespace latchkey::inline v1::testing::contract {

template <class Store>
class BackendTokens : public Contract<Store> {
 protected:
  static constexpr milliseconds queue_wait = 400 * Contract<Store>::unit;
  static constexpr milliseconds patience = std::chrono::seconds(5);

  /// The types of locks that may have a token.
  static std::vector<LockType> with_tokens(const Capabilities& offered) {
    std::vector<LockType> types;
    for (const LockType type : {LockType::WRITE, LockType::FAIR, LockType::FENCED}) {
      if (offered.offers(type)) types.push_back(type);
    }
    return types;
  }

  /// The acquire of a hold with a token.
  [[nodiscard]] Request acquire(const HoldId& id, LockType type, std::uint32_t tokens = 1) const {
    Request made;
    made.verb = Verb::acquire;
    made.key = this->name;
    made.type = type;
    made.id = id;
    made.lease = this->long_lease;
    made.fenced = type != LockType::FENCED;
    made.tokens = tokens;
    return made;
  }
};
TYPED_TEST_SUITE_P(BackendTokens);

TYPED_TEST_P(BackendTokens, TokensOfAllTypesOfAKeyRiseTogether) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().tokens, "tokens of WRITE and FAIR");
  std::uint64_t last = 0;
  for (int round = 0; round < 2; ++round) {
    for (const LockType type : this->with_tokens(one.offers())) {
      SCOPED_TRACE(to_string(type));
      Probe& who = round == 0 ? one : other;
      const Request request = this->acquire(who.fresh_id(), type, 3);
      const Outcome granted = who.send(request);
      EXPECT_EQ(granted.kind, Kind::granted);
      EXPECT_GE(granted.token, last + 3);  // the whole block lies above what was given before
      last = granted.token;
      const Outcome again = who.send(request);  // as if the reply had been lost
      EXPECT_EQ(again.kind, Kind::granted);
      EXPECT_EQ(again.token, last);
      EXPECT_EQ(who.send(Verb::release, this->name, type, request.id).kind, Kind::granted);
    }
  }
}

TYPED_TEST_P(BackendTokens, AGrantThatWantsNoTokenHasNone) {
  Probe one = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().tokens, "tokens of WRITE and FAIR");
  for (const LockType type : {LockType::WRITE, LockType::FAIR}) {
    if (!one.offers().offers(type)) continue;
    Request request = this->acquire(one.fresh_id(), type);
    for (const bool fenced : {true, false}) {
      request.fenced = fenced;
      request.id = one.fresh_id();
      EXPECT_EQ(one.send(request).token != 0, fenced) << to_string(type);
      EXPECT_EQ(one.send(Verb::release, this->name, type, request.id).kind, Kind::granted);
    }
  }
}

TYPED_TEST_P(BackendTokens, AWaiterIsGrantedANewToken) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().tokens, "tokens of WRITE and FAIR");
  for (const LockType type : {LockType::WRITE, LockType::FAIR}) {
    if (!one.offers().offers(type)) continue;
    SCOPED_TRACE(to_string(type));
    const Request first = this->acquire(one.fresh_id(), type);
    const std::uint64_t before = one.send(first).token;
    Request next = this->acquire(other.fresh_id(), type);
    next.queue_wait = this->queue_wait;
    EXPECT_EQ(other.send(next).kind, Kind::busy);
    EXPECT_EQ(one.send(Verb::release, this->name, type, first.id).kind, Kind::granted);
    const Outcome granted = other.send(next);
    EXPECT_EQ(granted.kind, Kind::granted);
    EXPECT_GT(granted.token, before);
    EXPECT_EQ(other.send(Verb::release, this->name, type, next.id).kind, Kind::granted);
  }
}

TYPED_TEST_P(BackendTokens, AReadThatWasAWriteHasNoTokenAndTheNextWriteHasAHigherOne) {
  Probe one = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().tokens && one.offers().read_write, "a WRITE with a token");
  Request request = this->acquire(one.fresh_id(), LockType::WRITE);
  const std::uint64_t before = one.send(request).token;
  EXPECT_NE(before, 0U);
  EXPECT_EQ(one.downgrade(this->name, request.id, this->long_lease).kind, Kind::granted);
  Request read = request;
  read.type = LockType::READ;
  read.fenced = false;
  const Outcome outcome = one.send(read);
  EXPECT_EQ(outcome.kind, Kind::granted);
  EXPECT_EQ(outcome.token, 0U);
  EXPECT_EQ(one.send(Verb::release, this->name, LockType::READ, read.id).kind, Kind::granted);
  request.id = one.fresh_id();
  EXPECT_GT(one.send(request).token, before);
}

TYPED_TEST_P(BackendTokens, AReleaseGrantsAWriteWithItsTokens) {
  Probe one = this->connect(), other = this->connect();
  const Capabilities offered = one.offers();
  LATCHKEY_DETAIL_OFFERED(offered.tokens && offered.grants && offered.read_write,
                          "grants of a WRITE with tokens by a release");
  const Request first = this->acquire(one.fresh_id(), LockType::WRITE);
  const std::uint64_t before = one.send(first).token;
  Request next = this->acquire(other.fresh_id(), LockType::WRITE, 7);
  next.queues = true;
  Request listens = next;
  listens.verb = Verb::subscribe;
  listens.id.number = 0;
  EXPECT_EQ(other.send(listens).kind, Kind::granted);
  EXPECT_GT(other.send(next).place, 0U);
  this->pass(this->unit);  // until then a store may let others take the lock first
  EXPECT_EQ(one.send(Verb::release, this->name, LockType::WRITE, first.id).kind, Kind::granted);
  const auto notes = other.notes(this->patience);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].kind, Notification::Kind::granted);
  EXPECT_EQ(notes[0].id, next.id);
  EXPECT_GE(notes[0].token, before + 7);
  const Outcome again = other.send(next);
  EXPECT_EQ(again.kind, Kind::granted);
  EXPECT_EQ(again.token, notes[0].token);
}

TYPED_TEST_P(BackendTokens, AcquireAllGivesTokensToTheMembersThatWantThem) {
  Probe one = this->connect(), other = this->connect();
  const Capabilities offered = one.offers();
  LATCHKEY_DETAIL_OFFERED(offered.one_step == Capabilities::OneStep::all,
                          "acquire_all of any keys");
  LATCHKEY_DETAIL_OFFERED(offered.tokens && offered.read_write, "a WRITE with a token");
  const std::string plain = this->store.fresh_key();
  Request first = this->acquire(one.fresh_id(), LockType::WRITE);
  const std::uint64_t before = one.send(first).token;
  std::vector<Member> members = {{this->name, LockType::WRITE, other.fresh_id()},
                                 {plain, LockType::WRITE, other.fresh_id()}};
  members[0].fenced = true;
  Request all;
  all.verb = Verb::acquire_all;
  all.members = members;
  all.lease = this->long_lease;
  EXPECT_EQ(other.send(all).kind, Kind::busy);
  EXPECT_EQ(one.send(Verb::release, this->name, LockType::WRITE, first.id).kind, Kind::granted);
  const Outcome granted = other.send(all);
  EXPECT_EQ(granted.kind, Kind::granted);
  EXPECT_GT(granted.token, before);
  EXPECT_EQ(other.send(all).token, granted.token);
  for (const Member& member : members) {
    EXPECT_EQ(other.send(Verb::release, member.key, LockType::WRITE, member.id).kind,
              Kind::granted);
  }
  first.id = one.fresh_id();
  EXPECT_GT(one.send(first).token, granted.token);
}

REGISTER_TYPED_TEST_SUITE_P(BackendTokens, TokensOfAllTypesOfAKeyRiseTogether,
                            AGrantThatWantsNoTokenHasNone, AWaiterIsGrantedANewToken,
                            AReadThatWasAWriteHasNoTokenAndTheNextWriteHasAHigherOne,
                            AReleaseGrantsAWriteWithItsTokens,
                            AcquireAllGivesTokensToTheMembersThatWantThem);

}  // namespace latchkey::inline v1::testing::contract
