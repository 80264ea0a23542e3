// The backend contract: the FAIR queue, fencing tokens, notifications, administration.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>

#include <latchkey/detail/testing/contract/fixture.hpp>

namespace latchkey::inline v1::testing::contract {

template <class Store>
class BackendQueues : public Contract<Store> {
 protected:
  static constexpr milliseconds queue_wait = 400 * Contract<Store>::unit;
  /// In real time: how long a notification may take, and how long none is awaited.
  static constexpr milliseconds patience = std::chrono::seconds(5);
  static constexpr milliseconds silence{20};
};
TYPED_TEST_SUITE_P(BackendQueues);

TYPED_TEST_P(BackendQueues, FairServesInOrderOfArrival) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().fair, "FAIR");
  const HoldId ids[] = {one.fresh_id(), other.fresh_id(), one.fresh_id()};
  const auto acquire = [&](Probe& who, const HoldId& id) {
    return who.acquire(this->name, LockType::FAIR, id, this->long_lease, this->queue_wait).kind;
  };
  EXPECT_EQ(acquire(one, ids[0]), Kind::granted);
  EXPECT_EQ(acquire(other, ids[1]), Kind::busy);
  EXPECT_EQ(acquire(one, ids[2]), Kind::busy);
  EXPECT_EQ(acquire(other, ids[1]), Kind::busy);  // a retry does not change its place
  EXPECT_EQ(one.send(Verb::release, this->name, LockType::FAIR, ids[0]).kind, Kind::granted);
  EXPECT_EQ(acquire(one, ids[2]), Kind::busy);
  EXPECT_EQ(acquire(one, one.fresh_id()), Kind::busy);
  EXPECT_EQ(acquire(other, ids[1]), Kind::granted);
  EXPECT_EQ(other.send(Verb::release, this->name, LockType::FAIR, ids[1]).kind, Kind::granted);
  EXPECT_EQ(acquire(one, ids[2]), Kind::granted);
}

TYPED_TEST_P(BackendQueues, FairAttemptWithoutWaitTakesNoPlace) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().fair, "FAIR");
  const HoldId holder = one.fresh_id();
  EXPECT_EQ(one.acquire(this->name, LockType::FAIR, holder, this->long_lease).kind, Kind::granted);
  EXPECT_EQ(other.acquire(this->name, LockType::FAIR, other.fresh_id(), this->lease).kind,
            Kind::busy);
  EXPECT_EQ(one.send(Verb::release, this->name, LockType::FAIR, holder).kind, Kind::granted);
  EXPECT_EQ(one.acquire(this->name, LockType::FAIR, one.fresh_id(), this->lease).kind,
            Kind::granted);
}

TYPED_TEST_P(BackendQueues, FairSkipsAFirstWaiterThatStoppedTrying) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().fair, "FAIR");
  const HoldId holder = one.fresh_id(), dead = other.fresh_id(), next = one.fresh_id();
  const auto type = LockType::FAIR;
  EXPECT_EQ(one.acquire(this->name, type, holder, this->long_lease).kind, Kind::granted);
  EXPECT_EQ(other.acquire(this->name, type, dead, this->long_lease, this->lease).kind, Kind::busy);
  EXPECT_EQ(one.acquire(this->name, type, next, this->long_lease, this->queue_wait).kind,
            Kind::busy);
  EXPECT_EQ(one.send(Verb::release, this->name, type, holder).kind, Kind::granted);
  EXPECT_EQ(one.acquire(this->name, type, next, this->long_lease, this->queue_wait).kind,
            Kind::busy);
  this->pass(this->lease + this->unit);
  EXPECT_EQ(one.acquire(this->name, type, next, this->long_lease, this->queue_wait).kind,
            Kind::granted);
}

TYPED_TEST_P(BackendQueues, FairLeaveGivesUpThePlace) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().fair, "FAIR");
  const HoldId holder = one.fresh_id(), leaver = other.fresh_id(), next = one.fresh_id();
  const auto type = LockType::FAIR;
  EXPECT_EQ(one.acquire(this->name, type, holder, this->long_lease).kind, Kind::granted);
  EXPECT_EQ(other.acquire(this->name, type, leaver, this->long_lease, this->queue_wait).kind,
            Kind::busy);
  EXPECT_EQ(one.acquire(this->name, type, next, this->long_lease, this->queue_wait).kind,
            Kind::busy);
  EXPECT_EQ(one.send(Verb::release, this->name, type, holder).kind, Kind::granted);
  EXPECT_EQ(other.send(Verb::leave, this->name, type, leaver).kind, Kind::granted);
  EXPECT_EQ(one.acquire(this->name, type, next, this->long_lease, this->queue_wait).kind,
            Kind::granted);
}

TYPED_TEST_P(BackendQueues, FencingTokensOnlyRise) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().fenced, "FENCED");
  const auto type = LockType::FENCED;
  std::uint64_t last = 0;
  const auto next = [&](Probe& who, const HoldId& id, std::uint32_t tokens) {
    const Outcome outcome = who.acquire(this->name, type, id, this->lease, {}, tokens);
    EXPECT_EQ(outcome.kind, Kind::granted);
    EXPECT_GE(outcome.token, last + tokens);  // the whole block lies above what was given before
    last = outcome.token;
  };
  const HoldId first = one.fresh_id();
  next(one, first, 1);
  EXPECT_EQ(one.send(Verb::release, this->name, type, first).kind, Kind::granted);
  next(other, other.fresh_id(), 100);
  this->pass(this->lease + this->unit);  // the lease ends
  next(one, one.fresh_id(), 3);
  if (one.offers().administration) {
    EXPECT_EQ(other.send(Verb::force_release, this->name).kind, Kind::granted);
    next(other, other.fresh_id(), 1);
  }
}

TYPED_TEST_P(BackendQueues, AReleaseByAnotherConnectionNotifiesSubscribers) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().pushes, "notifications");
  const auto type = one.offers().read_write ? LockType::WRITE : LockType::REENTRANT;
  const HoldId holder = one.fresh_id();
  EXPECT_EQ(one.acquire(this->name, type, holder, this->long_lease).kind, Kind::granted);
  EXPECT_EQ(other.send(Verb::subscribe, this->name, type).kind, Kind::granted);
  EXPECT_TRUE(other.notes().empty());
  EXPECT_EQ(one.send(Verb::release, this->name, type, holder).kind, Kind::granted);
  const auto notes = other.notes(this->patience);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].kind, Notification::Kind::released);
  EXPECT_EQ(notes[0].key, this->name);
  EXPECT_EQ(other.send(Verb::unsubscribe, this->name, type).kind, Kind::granted);
  const HoldId again = one.fresh_id();
  EXPECT_EQ(one.acquire(this->name, type, again, this->long_lease).kind, Kind::granted);
  EXPECT_EQ(one.send(Verb::release, this->name, type, again).kind, Kind::granted);
  EXPECT_TRUE(other.notes(this->silence).empty());
}

TYPED_TEST_P(BackendQueues, FairNotifiesTheFirstWaiterOnly) {
  Probe one = this->connect(), other = this->connect(), third = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().pushes && one.offers().fair, "notifications of FAIR");
  const auto type = LockType::FAIR;
  const HoldId holder = one.fresh_id(), next = other.fresh_id(), last = third.fresh_id();
  EXPECT_EQ(one.acquire(this->name, type, holder, this->long_lease).kind, Kind::granted);
  for (auto [who, id] : {std::pair{&other, next}, std::pair{&third, last}}) {
    EXPECT_EQ(who->acquire(this->name, type, id, this->long_lease, this->queue_wait).kind,
              Kind::busy);
    EXPECT_EQ(who->send(Verb::subscribe, this->name, type, id).kind, Kind::granted);
  }
  EXPECT_EQ(one.send(Verb::release, this->name, type, holder).kind, Kind::granted);
  const auto notes = other.notes(this->patience);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].id, next);
  EXPECT_TRUE(third.notes(this->silence).empty());
  // The first waiter leaves while the lock is free: the next one is notified.
  EXPECT_EQ(other.send(Verb::leave, this->name, type, next).kind, Kind::granted);
  const auto later_notes = third.notes(this->patience);
  ASSERT_EQ(later_notes.size(), 1U);
  EXPECT_EQ(later_notes[0].id, last);
}

TYPED_TEST_P(BackendQueues, InspectReportsAndForceReleaseEndsHolds) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().administration, "inspect, list and force_release");
  EXPECT_FALSE(other.inspect(this->name).locked);
  EXPECT_EQ(other.send(Verb::force_release, this->name).kind, Kind::gone);
  const HoldId id = one.fresh_id();
  EXPECT_EQ(one.acquire(this->name, LockType::REENTRANT, id, this->long_lease).kind, Kind::granted);
  const LockInfo info = other.inspect(this->name);
  EXPECT_EQ(info.key, this->name);
  EXPECT_TRUE(info.locked);
  EXPECT_EQ(info.type, LockType::REENTRANT);
  ASSERT_EQ(info.holders.size(), 1U);
  if (this->shows_ids) {
    EXPECT_EQ(info.holders[0].id, id.text());
  }
  EXPECT_LE(info.holders[0].left.value_or(this->long_lease), this->long_lease);
  const auto names = other.list(this->name.substr(0, this->name.size() - 1) + "?");
  EXPECT_NE(std::find(names.begin(), names.end(), this->name), names.end());
  EXPECT_EQ(other.send(Verb::force_release, this->name).kind, Kind::granted);
  EXPECT_EQ(one.renew(this->name, LockType::REENTRANT, id, this->lease).kind, Kind::gone);
  EXPECT_TRUE(other.list(this->name).empty());
}

TYPED_TEST_P(BackendQueues, PagesOfAListContainAllOfIt) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().administration, "inspect, list and force_release");
  std::vector<std::string> keys;
  for (const char* end : {"", ".1", ".2", ".3", ".4", ".5"}) keys.push_back(this->name + end);
  for (const std::string& key : keys) {
    EXPECT_EQ(one.acquire(key, LockType::REENTRANT, one.fresh_id(), this->long_lease).kind,
              Kind::granted);
  }
  ListPart part;
  part.budget = 2;
  std::vector<std::string> names;
  int pages = 0;
  do {
    EXPECT_EQ(other.list(this->name + "*", part, names).kind, Kind::granted);
  } while (part.cursor != ListCursor{} && ++pages < 1'000'000);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  EXPECT_EQ(names, keys);
  for (const std::string& key : keys) {
    EXPECT_EQ(other.send(Verb::force_release, key).kind, Kind::granted);
  }
}

TYPED_TEST_P(BackendQueues, AKeyThatStaysLockedIsOnAPageAlthoughOthersAreReleased) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().administration, "inspect, list and force_release");
  std::vector<std::string> keys;
  std::vector<HoldId> ids;
  for (const char* end : {"", ".1", ".2", ".3", ".4", ".5"}) {
    keys.push_back(this->name + end);
    ids.push_back(one.fresh_id());
    EXPECT_EQ(one.acquire(keys.back(), LockType::REENTRANT, ids.back(), this->long_lease).kind,
              Kind::granted);
  }
  ListPart part;
  part.budget = 2;
  std::vector<std::string> names;
  EXPECT_EQ(other.list(this->name + "*", part, names).kind, Kind::granted);
  for (const std::string& listed : std::vector<std::string>(names)) {
    const auto index = std::find(keys.begin(), keys.end(), listed) - keys.begin();
    const HoldId& id = ids.at(static_cast<std::size_t>(index));
    EXPECT_EQ(one.send(Verb::release, listed, LockType::REENTRANT, id).kind, Kind::granted);
  }
  for (int pages = 0; part.cursor != ListCursor{} && pages < 1'000'000; ++pages) {
    EXPECT_EQ(other.list(this->name + "*", part, names).kind, Kind::granted);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  EXPECT_EQ(names, keys);
  for (const std::string& key : keys) other.send(Verb::force_release, key);
}

TYPED_TEST_P(BackendQueues, AwaitedKeysAreListedWithTheNumberOfWaiters) {
  Probe one = this->connect(), other = this->connect(), third = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().administration && one.offers().pushes && this->knows_waiters,
                          "a list of the keys that are awaited");
  const HoldId holder = one.fresh_id();
  EXPECT_EQ(one.acquire(this->name, LockType::REENTRANT, holder, this->long_lease).kind,
            Kind::granted);
  const auto waiters = [&](const std::string& pattern) {
    ListPart part;
    std::vector<std::string> names;
    do {
      part.awaited = true;
      EXPECT_EQ(one.list(pattern, part, names).kind, Kind::granted);
    } while (part.cursor != ListCursor{});
    EXPECT_EQ(names.size(), part.waiters.size());
    const auto at = std::find(names.begin(), names.end(), this->name);
    const auto index = static_cast<std::size_t>(at - names.begin());
    return at == names.end() ? 0 : part.waiters.at(index);
  };
  EXPECT_EQ(waiters("*"), 0U);
  EXPECT_EQ(one.inspect(this->name).subscribers.value_or(0), 0U);
  for (Probe* const who : {&other, &third}) {
    EXPECT_EQ(who->send(Verb::subscribe, this->name, LockType::REENTRANT).kind, Kind::granted);
  }
  EXPECT_EQ(waiters("*"), 2U);
  EXPECT_EQ(waiters(this->name.substr(0, this->name.size() - 1) + "?"), 2U);
  EXPECT_EQ(waiters(this->name + "?"), 0U);
  EXPECT_EQ(one.inspect(this->name).subscribers.value_or(2), 2U);
  EXPECT_EQ(other.send(Verb::unsubscribe, this->name, LockType::REENTRANT).kind, Kind::granted);
  EXPECT_EQ(waiters("*"), 1U);
  EXPECT_EQ(third.send(Verb::unsubscribe, this->name, LockType::REENTRANT).kind, Kind::granted);
  EXPECT_EQ(waiters("*"), 0U);
}

TYPED_TEST_P(BackendQueues, AwaitedFairKeysCountThePlacesInTheQueue) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().administration && one.offers().pushes && one.offers().fair,
                          "a list of the FAIR keys that are awaited");
  EXPECT_EQ(one.acquire(this->name, LockType::FAIR, one.fresh_id(), this->long_lease).kind,
            Kind::granted);
  const HoldId waiting[] = {other.fresh_id(), other.fresh_id(), other.fresh_id()};
  for (const HoldId& id : waiting) {
    EXPECT_EQ(
        other.acquire(this->name, LockType::FAIR, id, this->long_lease, this->queue_wait).kind,
        Kind::busy);
    EXPECT_EQ(other.send(Verb::subscribe, this->name, LockType::FAIR, id).kind, Kind::granted);
  }
  ListPart part;
  std::vector<std::string> names;
  part.awaited = true;
  do {
    EXPECT_EQ(one.list(this->name, part, names).kind, Kind::granted);
  } while (part.cursor != ListCursor{});
  EXPECT_EQ(names, std::vector<std::string>{this->name});
  EXPECT_EQ(part.waiters, std::vector<std::uint64_t>{3});
  for (const HoldId& id : waiting) {
    EXPECT_EQ(other.send(Verb::unsubscribe, this->name, LockType::FAIR, id).kind, Kind::granted);
    EXPECT_EQ(other.send(Verb::leave, this->name, LockType::FAIR, id).kind, Kind::granted);
  }
}

REGISTER_TYPED_TEST_SUITE_P(BackendQueues, FairServesInOrderOfArrival,
                            FairAttemptWithoutWaitTakesNoPlace,
                            FairSkipsAFirstWaiterThatStoppedTrying, FairLeaveGivesUpThePlace,
                            FencingTokensOnlyRise, AReleaseByAnotherConnectionNotifiesSubscribers,
                            FairNotifiesTheFirstWaiterOnly, InspectReportsAndForceReleaseEndsHolds,
                            PagesOfAListContainAllOfIt,
                            AKeyThatStaysLockedIsOnAPageAlthoughOthersAreReleased,
                            AwaitedKeysAreListedWithTheNumberOfWaiters,
                            AwaitedFairKeysCountThePlacesInTheQueue);

}  // namespace latchkey::inline v1::testing::contract
