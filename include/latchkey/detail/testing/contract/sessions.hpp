// The backend contract of leases that are limited, and of holds that live as long as a session.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <latchkey/detail/testing/contract/fixture.hpp>
#include <latchkey/locks.hpp>

namespace latchkey::inline v1::testing::contract {

template <class Store>
class BackendSessions : public Contract<Store> {
 protected:
  /// In real time: how long a notification may take.
  static constexpr milliseconds patience = std::chrono::seconds(10);

  static constexpr bool ends_sessions =
      requires(Store& store, Backend& backend) { store.end_session(backend); };

  /// The message of the error that an acquire with this lease ends with; empty: none.
  std::string refusal(milliseconds length) {
    Locks locks(this->store.backend(), this->store.options());
    try {
      static_cast<void>(locks.lock(this->name).try_acquire(milliseconds(0), length));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  }
  /// The ids of the notifications of this kind, once there are `count` of them.
  std::vector<HoldId> await(Probe& who, Notification::Kind kind, std::size_t count) {
    std::vector<HoldId> ids;
    const auto end = std::chrono::steady_clock::now() + patience;
    while (ids.size() < count && std::chrono::steady_clock::now() < end) {
      for (const Probe::Note& note : who.notes(milliseconds(100))) {
        if (note.kind == kind) ids.push_back(note.id);
      }
    }
    return ids;
  }
};
TYPED_TEST_SUITE_P(BackendSessions);

TYPED_TEST_P(BackendSessions, ALeaseThatIsNotOfferedIsAnErrorThatNamesTheLimit) {
  const Capabilities offers = this->connect().offers();
  EXPECT_TRUE(offers.offers(this->lease)) << offers.why_not(this->lease);
  EXPECT_TRUE(offers.offers(this->long_lease)) << offers.why_not(this->long_lease);
  const milliseconds short_lease = offers.min_lease - offers.lease_granularity;
  if (short_lease >= milliseconds(10)) {
    EXPECT_NE(this->refusal(short_lease).find("its least is"), std::string::npos);
  }
  if (offers.lease_granularity > milliseconds(1)) {
    const std::string why = this->refusal(offers.min_lease + milliseconds(1));
    EXPECT_NE(why.find("its leases are multiples of"), std::string::npos) << why;
  }
  if (offers.max_lease < milliseconds::max()) {
    const std::string why = this->refusal(offers.max_lease + offers.lease_granularity);
    EXPECT_NE(why.find("offers no lease of"), std::string::npos) << why;
  }
}

TYPED_TEST_P(BackendSessions, OneHoldEndsAndTheOthersStay) {
  Probe one = this->connect(), other = this->connect();
  const std::string second = this->store.fresh_key();
  const HoldId ids[] = {one.fresh_id(), one.fresh_id()};
  const auto type = LockType::REENTRANT;
  EXPECT_EQ(one.acquire(this->name, type, ids[0], this->long_lease).kind, Kind::granted);
  EXPECT_EQ(one.acquire(second, type, ids[1], this->long_lease).kind, Kind::granted);
  EXPECT_EQ(one.send(Verb::release, this->name, type, ids[0]).kind, Kind::granted);
  EXPECT_EQ(one.send(Verb::verify, second, type, ids[1]).kind, Kind::granted);
  EXPECT_EQ(other.acquire(second, type, other.fresh_id(), this->lease).kind, Kind::busy);
  EXPECT_EQ(other.acquire(this->name, type, other.fresh_id(), this->lease).kind, Kind::granted);
}

TYPED_TEST_P(BackendSessions, TheEndOfASessionEndsAllItsHoldsAndTellsEach) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().lifetime == Capabilities::Lifetime::per_session,
                          "holds that live as long as a session");
  const std::string second = this->store.fresh_key();
  const HoldId ids[] = {one.fresh_id(), one.fresh_id()};
  const auto type = LockType::REENTRANT;
  EXPECT_EQ(one.acquire(this->name, type, ids[0], this->long_lease).kind, Kind::granted);
  EXPECT_EQ(one.acquire(second, type, ids[1], this->long_lease).kind, Kind::granted);
  if constexpr (TestFixture::ends_sessions) {
    this->store.end_session(one.backend());
  } else {
    FAIL() << "a store with sessions has a function end_session(Backend&)";
  }
  const std::vector<HoldId> gone = this->await(one, Notification::Kind::gone, 2);
  EXPECT_TRUE(std::is_permutation(gone.begin(), gone.end(), std::begin(ids), std::end(ids)));
  EXPECT_EQ(one.renew(this->name, type, ids[0], this->long_lease).kind, Kind::gone);
  for (const std::string& key : {this->name, second}) {
    const HoldId next = other.fresh_id();
    EXPECT_EQ(other.acquire(key, type, next, this->long_lease).kind, Kind::granted);
    EXPECT_EQ(other.send(Verb::release, key, type, next).kind, Kind::granted);
  }
  // The connection goes on with another session.
  EXPECT_EQ(one.acquire(this->name, type, one.fresh_id(), this->long_lease).kind, Kind::granted);
}

REGISTER_TYPED_TEST_SUITE_P(BackendSessions, ALeaseThatIsNotOfferedIsAnErrorThatNamesTheLimit,
                            OneHoldEndsAndTheOthersStay,
                            TheEndOfASessionEndsAllItsHoldsAndTellsEach);

}  // namespace latchkey::inline v1::testing::contract
