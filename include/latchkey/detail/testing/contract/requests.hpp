// The backend contract: order and completion of requests.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <atomic>
#include <thread>

#include <latchkey/detail/testing/contract/fixture.hpp>

namespace latchkey::inline v1::testing::contract {

/// Counts the completions of each request. Thread-safe.
class CountingSink final : public Sink {
 public:
  struct Entry {
    Request request;
    std::atomic<int> completions = 0;
    Kind kind = Kind::unknown;
    Parker* parker = nullptr;
  };

  void completed(Request& request, Outcome&& outcome) noexcept override {
    auto& entry = *static_cast<Entry*>(request.context);
    entry.kind = outcome.kind;
    Parker* const parker = entry.parker;
    entry.completions.fetch_add(1, std::memory_order_release);
    if (parker != nullptr) parker->unpark();
  }
  void notified(const Notification&) noexcept override {}
};

template <class Store>
class BackendRequests : public Contract<Store> {
 protected:
  void fill(CountingSink::Entry& entry, Verb verb, const HoldId& id, std::string_view about) {
    entry.request.verb = verb;
    entry.request.key = about;
    entry.request.id = id;
    entry.request.lease = this->long_lease;
    entry.request.context = &entry;
    entry.request.sent = clock().now();
    entry.parker = &Parker::mine();
  }
  Clock& clock() {
    Clock* const own = this->store.options().clock;
    return own != nullptr ? *own : Clock::system();
  }
  void drive_until_completed(Backend& backend, const CountingSink::Entry& entry) {
    while (entry.completions.load(std::memory_order_acquire) == 0) {
      backend.drive(Parker::mine(), later(clock().now(), std::chrono::seconds(10)));
    }
  }
};
TYPED_TEST_SUITE_P(BackendRequests);

TYPED_TEST_P(BackendRequests, EachIsCompletedOnceAndInOrderForOneThread) {
  using Entry = CountingSink::Entry;
  const auto backend = this->store.backend();
  CountingSink sink;
  const HoldId id{HoldId::new_space(), 1};
  // A server that has just been started may have to be sent what each verb runs, one after another.
  for (const Verb verb : {Verb::acquire, Verb::renew, Verb::release}) {
    Entry once;
    this->fill(once, verb, {id.space, 2}, this->name);
    Request* const one[] = {&once.request};
    backend->submit(one, sink);
    this->drive_until_completed(*backend, once);
  }
  // Each attempt depends on the one before it, so the outcomes show the order of the attempts.
  constexpr std::array verbs = {Verb::release, Verb::acquire, Verb::renew,
                                Verb::release, Verb::renew,   Verb::release};
  constexpr std::array expected = {Kind::gone,    Kind::granted, Kind::granted,
                                   Kind::granted, Kind::gone,    Kind::gone};
  std::array<Entry, verbs.size()> entries;
  std::vector<Request*> requests;
  for (std::size_t index = 0; index < verbs.size(); ++index) {
    this->fill(entries[index], verbs[index], id, this->name);
    requests.push_back(&entries[index].request);
  }
  // The first ones together, the others one by one.
  backend->submit(std::span(requests).first(3), sink);
  for (std::size_t index = 3; index < requests.size(); ++index) {
    backend->submit(std::span(requests).subspan(index, 1), sink);
  }
  EXPECT_EQ(entries[0].completions, 0) << "the sink is called from drive only";
  for (const Entry& entry : entries) this->drive_until_completed(*backend, entry);
  backend->drive(Parker::mine(), this->clock().now());  // nothing comes a second time
  for (std::size_t index = 0; index < entries.size(); ++index) {
    SCOPED_TRACE(index);
    EXPECT_EQ(entries[index].completions, 1);
    EXPECT_EQ(entries[index].kind, expected[index]);
  }
}

TYPED_TEST_P(BackendRequests, AnotherThreadMayDrive) {
  using Entry = CountingSink::Entry;
  const auto backend = this->store.backend();
  CountingSink sink;
  Entry entry;
  this->fill(entry, Verb::acquire, {HoldId::new_space(), 1}, this->name);
  Request* const one[] = {&entry.request};
  std::thread([&] { backend->submit(one, sink); }).join();
  this->drive_until_completed(*backend, entry);
  EXPECT_EQ(entry.kind, Kind::granted);
}

TYPED_TEST_P(BackendRequests, ADriveEndsAtItsDeadlineOrWhenUnparked) {
  const auto backend = this->store.backend();
  backend->drive(Parker::mine(), this->clock().now());
  Parker::mine().unpark();
  backend->drive(Parker::mine(), Clock::never());
  SUCCEED();
}

TYPED_TEST_P(BackendRequests, ManyThreadsDriveOneConnection) {
  using Entry = CountingSink::Entry;
  constexpr std::size_t threads = 4;
  constexpr int rounds = 50;
  const auto backend = this->store.backend();
  CountingSink sink;
  const auto space = HoldId::new_space();
  std::atomic<std::uint64_t> number = 0;
  std::atomic<int> inside = 0, overlaps = 0, granted = 0, lost = 0;
  const auto send = [&](Verb verb, const HoldId& id) {
    Entry entry;
    this->fill(entry, verb, id, this->name);
    Request* const one[] = {&entry.request};
    backend->submit(one, sink);
    this->drive_until_completed(*backend, entry);
    return entry.kind;
  };
  std::vector<std::thread> all;
  for (std::size_t index = 0; index < threads; ++index) {
    all.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        const HoldId id{space, ++number};
        if (send(Verb::acquire, id) != Kind::granted) continue;
        ++granted;
        if (inside.fetch_add(1) != 0) ++overlaps;
        std::this_thread::yield();
        inside.fetch_sub(1);
        if (send(Verb::release, id) != Kind::granted) ++lost;
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  EXPECT_GT(granted, 0);
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(lost, 0);
}

TYPED_TEST_P(BackendRequests, ARevocationReachesThoseWhoListenAndEndsNothing) {
  Probe holder = this->connect(), asker = this->connect();
  LATCHKEY_DETAIL_OFFERED(holder.offers().revocation, "revocation");
  Request listen;
  listen.verb = Verb::subscribe;
  listen.key = this->name;
  listen.revocations = true;
  const HoldId id = holder.fresh_id();
  EXPECT_EQ(holder.acquire(this->name, LockType::REENTRANT, id, this->long_lease).kind,
            Kind::granted);
  EXPECT_EQ(asker.send(Verb::revoke, this->name).notified, 0U);
  EXPECT_EQ(holder.send(listen).kind, Kind::granted);
  EXPECT_EQ(holder.send(listen).kind, Kind::granted);
  EXPECT_EQ(asker.send(Verb::revoke, this->name).notified, 1U);
  const auto notes = holder.notes(std::chrono::seconds(10));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].kind, Notification::Kind::revoked);
  EXPECT_EQ(notes[0].key, this->name);
  EXPECT_EQ(holder.send(Verb::verify, this->name, LockType::REENTRANT, id).kind, Kind::granted);
  EXPECT_EQ(holder.send(Verb::release, this->name, LockType::REENTRANT, id).kind, Kind::granted);
  EXPECT_TRUE(holder.notes().empty()) << "its own release is no revocation";
  listen.verb = Verb::unsubscribe;
  EXPECT_EQ(holder.send(listen).kind, Kind::granted);
  EXPECT_EQ(asker.send(Verb::revoke, this->name).notified, 0U);
}

TYPED_TEST_P(BackendRequests, AnInspectSaysWhoWasAskedToReleaseAndNotWhoHoldsLater) {
  Probe holder = this->connect(), asker = this->connect();
  LATCHKEY_DETAIL_OFFERED(holder.offers().revocation && holder.offers().administration,
                          "revocation, inspect");
  const LockType type = holder.offers().read_write ? LockType::READ : LockType::REENTRANT;
  const auto asked = [&] {
    std::vector<std::string> ids;
    for (const HolderInfo& each : asker.inspect(this->name).holders) {
      if (!each.revoked) continue;
      EXPECT_LT(*each.revoked, std::chrono::minutes(1));
      ids.push_back(each.id);
    }
    return ids;
  };
  Request listen;
  listen.verb = Verb::subscribe;
  listen.key = this->name;
  listen.revocations = true;
  const HoldId first = holder.fresh_id(), second = holder.fresh_id();
  EXPECT_EQ(holder.acquire(this->name, type, first, this->long_lease).kind, Kind::granted);
  asker.send(Verb::revoke, this->name);
  EXPECT_TRUE(asked().empty()) << "nobody was told";
  EXPECT_EQ(holder.send(listen).kind, Kind::granted);
  EXPECT_EQ(asker.send(Verb::revoke, this->name).notified, 1U);
  EXPECT_EQ(asked(), std::vector<std::string>{first.text()});
  if (type == LockType::READ) {
    EXPECT_EQ(holder.acquire(this->name, type, second, this->long_lease).kind, Kind::granted);
    EXPECT_EQ(asked(), std::vector<std::string>{first.text()});
  }
  EXPECT_EQ(holder.send(Verb::release, this->name, type, first).kind, Kind::granted);
  EXPECT_EQ(holder.acquire(this->name, type, second, this->long_lease).kind, Kind::granted);
  EXPECT_TRUE(asked().empty()) << "the next holder was not asked";
}

REGISTER_TYPED_TEST_SUITE_P(BackendRequests, EachIsCompletedOnceAndInOrderForOneThread,
                            AnotherThreadMayDrive, ADriveEndsAtItsDeadlineOrWhenUnparked,
                            ManyThreadsDriveOneConnection,
                            ARevocationReachesThoseWhoListenAndEndsNothing,
                            AnInspectSaysWhoWasAskedToReleaseAndNotWhoHoldsLater);

}  // namespace latchkey::inline v1::testing::contract
