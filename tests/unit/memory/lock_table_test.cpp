// Compares the lock table with a naive model, and checks that it frees its records.
// tidy: long-file because all its tests make their requests alike.
#include "memory/lock_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "unit/memory/naive_store.hpp"

namespace latchkey::detail {
namespace {

using std::chrono::milliseconds;
using Kind = Outcome::Kind;

constexpr auto start = Clock::time_point(std::chrono::hours(1'000));

struct RecordingSubscriber final : Subscriber {
  struct Note {
    std::string key;
    std::uint64_t id, place;
    Notification::Kind kind;
  };
  void notify(const Notification& notification) noexcept override {
    notes.push_back({std::string(notification.key), notification.id.number, notification.place,
                     notification.kind});
  }
  std::vector<Note> notes;
};

Request about(Verb verb, std::string_view key, std::uint64_t id,
              LockType type = LockType::REENTRANT, milliseconds lease = milliseconds(1'000),
              milliseconds queue_wait = milliseconds(0)) {
  Request request;
  request.verb = verb;
  request.type = type;
  request.key = key;
  request.id = {{7, 9}, id};
  request.lease = lease;
  request.queue_wait = queue_wait;
  return request;
}

/// A random request out of a world small enough that everything meets everything.
class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed) {}

  Request request() {
    static constexpr Verb verbs[] = {Verb::acquire,   Verb::acquire, Verb::acquire,
                                     Verb::acquire,   Verb::renew,   Verb::verify,
                                     Verb::release,   Verb::release, Verb::leave,
                                     Verb::downgrade, Verb::expire,  Verb::force_release};
    static constexpr std::string_view keys[] = {"a", "b", "c"};
    static constexpr LockType types[] = {LockType::REENTRANT, LockType::FAIR, LockType::READ,
                                         LockType::WRITE, LockType::FENCED};
    const Verb verb = verbs[below(12)];
    // Forced releases are rare, or nothing else would happen.
    if (verb == Verb::force_release && below(4) != 0) return request();
    return about(verb, keys[below(3)], 1 + below(4), types[below(5)], milliseconds(1 + below(30)),
                 milliseconds(below(3) * 10));
  }
  Clock::duration step() { return milliseconds(below(6)); }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  std::mt19937_64 random_;
};

std::vector<std::uint64_t> numbers(const std::vector<naive::Entry>& entries) {
  std::vector<std::uint64_t> ids;
  for (const auto& entry : entries) ids.push_back(entry.id);
  return ids;
}

std::string texts(std::vector<std::uint64_t> ids, bool sorted) {
  std::vector<std::string> all;
  for (const auto id : ids) all.push_back(HoldId{{7, 9}, id}.text());
  if (sorted) std::sort(all.begin(), all.end());
  std::string text;
  for (const auto& each : all) text += each + ' ';
  return text;
}

void expect_same_state(LockTable& table, naive::Store& model, const Request& asked,
                       Clock::time_point now) {
  LockInfo info;
  Request look = about(Verb::inspect, asked.key, 0);
  look.info = &info;
  table.apply(look, now);
  const naive::Key& key = model.key(std::string(asked.key));
  EXPECT_EQ(info.locked, !key.holders.empty());
  std::vector<std::string> holders, queue = info.queue;
  for (const auto& holder : info.holders) holders.push_back(holder.id);
  std::sort(holders.begin(), holders.end());
  std::string seen;
  for (const auto& each : holders) seen += each + ' ';
  EXPECT_EQ(seen, texts(numbers(key.holders), true));
  seen.clear();
  for (const auto& each : queue) seen += each + ' ';
  EXPECT_EQ(seen, texts(numbers(key.queue), false));
  // Mutual exclusion holds whatever the model contains.
  EXPECT_TRUE(info.holders.size() <= 1 || info.type == LockType::READ);
}

TEST(LockTable, BehavesLikeTheNaiveModel) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    LockTable table;
    naive::Store model;
    Clock::time_point now = start;
    std::set<std::uint64_t> tokens;
    for (int step = 0; step < 300; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      now += world.step();
      const Request request = world.request();
      SCOPED_TRACE(std::string(to_string(request.verb)) + ' ' +
                   std::string(to_string(request.type)) + " of " + std::string(request.key) +
                   " by " + std::to_string(request.id.number));
      const auto expected = model.apply(request, now);
      const Outcome outcome = table.apply(request, now);
      ASSERT_EQ(outcome.kind, expected.kind);
      EXPECT_EQ(outcome.retry_after, expected.retry_after);
      if (outcome.kind == Kind::granted && request.type == LockType::FENCED &&
          request.verb == Verb::acquire) {
        // A holder's token stays; every other one is larger than all before.
        const bool known = tokens.contains(outcome.token);
        EXPECT_TRUE(known || tokens.empty() || outcome.token > *tokens.rbegin());
        tokens.insert(outcome.token);
      }
      expect_same_state(table, model, request, now);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(LockTable, FindsAHoldOfItsOwnTypeOnly) {
  LockTable table;
  const LockType read = LockType::READ, write = LockType::WRITE;
  const auto send = [&](Verb verb, LockType type) {
    return table.apply(about(verb, "a", 1, type), start).kind;
  };
  EXPECT_EQ(send(Verb::acquire, write), Kind::granted);
  for (const Verb verb : {Verb::renew, Verb::verify, Verb::release, Verb::leave}) {
    EXPECT_EQ(send(verb, read), Kind::gone) << to_string(verb) << " of a WRITE as READ";
  }
  EXPECT_EQ(send(Verb::downgrade, write), Kind::granted);
  for (const Verb verb : {Verb::renew, Verb::verify, Verb::release}) {
    EXPECT_EQ(send(verb, write), Kind::gone) << to_string(verb) << " of a READ as WRITE";
  }
  EXPECT_EQ(send(Verb::verify, read), Kind::granted);
  EXPECT_EQ(send(Verb::leave, write), Kind::granted) << "leave ends whatever came of a WRITE";
  EXPECT_EQ(table.size(), 0U);
}

TEST(LockTable, IsEmptyOnceAllOwnersHaveLeft) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    World world(seed);
    LockTable table;
    RecordingSubscriber subscriber;
    Clock::time_point now = start;
    for (int step = 0; step < 200; ++step) {
      table.apply(world.request(), now += world.step());
    }
    for (const char* key : {"a", "b", "c"}) {
      table.apply(about(Verb::subscribe, key, 0), now, &subscriber);
      table.apply(about(Verb::unsubscribe, key, 0), now, &subscriber);
      for (std::uint64_t id = 1; id <= 4; ++id) {
        table.apply(about(Verb::leave, key, id), now);
        table.apply(about(Verb::leave, key, id, LockType::WRITE), now);
      }
    }
    now += milliseconds(20);  // until then a WRITE that has left keeps READs out
    for (const char* key : {"a", "b", "c"}) table.apply(about(Verb::verify, key, 1), now);
    EXPECT_EQ(table.size(), 0U) << "seed " << seed;
  }
}

TEST(LockTable, DropsExpiredKeysThatNoRequestNames) {
  LockTable table;
  std::string key;
  constexpr int crowd = 10'000;
  for (int index = 0; index < crowd; ++index) {
    key = "lost:" + std::to_string(index);
    table.apply(about(Verb::acquire, key, 1), start);
  }
  EXPECT_EQ(table.size(), std::size_t{crowd});
  // As many requests about other things as the table has buckets find all of them.
  for (int index = 0; index < 16'384; ++index) {
    table.apply(about(Verb::verify, "other", 1), start + std::chrono::hours(1));
  }
  EXPECT_EQ(table.size(), 0U);
}

TEST(LockTable, ForgettingASubscriberEndsItsSubscriptions) {
  LockTable table;
  RecordingSubscriber one, other;
  table.apply(about(Verb::subscribe, "a", 0), start, &one);
  table.apply(about(Verb::subscribe, "a", 0), start, &one);  // twice is once
  table.apply(about(Verb::subscribe, "a", 0), start, &other);
  table.apply(about(Verb::acquire, "a", 1), start);
  table.forget(other);
  table.apply(about(Verb::release, "a", 1), start);
  EXPECT_EQ(one.notes.size(), 1U);
  EXPECT_TRUE(other.notes.empty());
  table.forget(one);
  EXPECT_EQ(table.size(), 0U);
}

TEST(LockTable, NotifiesExactlyWhenTheKeyBecomesFree) {
  LockTable table;
  RecordingSubscriber subscriber;
  table.apply(about(Verb::subscribe, "a", 0), start, &subscriber);
  table.apply(about(Verb::acquire, "a", 1, LockType::READ), start);
  table.apply(about(Verb::acquire, "a", 2, LockType::READ), start);
  table.apply(about(Verb::release, "a", 1, LockType::READ), start);
  EXPECT_TRUE(subscriber.notes.empty()) << "a reader is left";
  table.apply(about(Verb::release, "a", 2, LockType::READ), start);
  EXPECT_EQ(subscriber.notes.size(), 1U);
  table.apply(about(Verb::acquire, "a", 3, LockType::WRITE), start);
  table.apply(about(Verb::downgrade, "a", 3, LockType::WRITE), start);
  EXPECT_EQ(subscriber.notes.size(), 2U) << "readers may join";
  table.apply(about(Verb::force_release, "a", 0), start);
  EXPECT_EQ(subscriber.notes.size(), 3U);
  table.apply(about(Verb::acquire, "a", 4), start);
  table.apply(about(Verb::verify, "a", 4), start + std::chrono::hours(1));
  EXPECT_EQ(subscriber.notes.size(), 4U) << "an expired hold was dropped";
}

TEST(LockTable, AQueueNotifiesItsFirstWaiter) {
  LockTable table;
  RecordingSubscriber subscriber;
  const auto fair = LockType::FAIR;
  const milliseconds lease(1'000), wait(500);
  table.apply(about(Verb::acquire, "a", 1, fair, lease), start);
  for (std::uint64_t id = 2; id <= 3; ++id) {
    table.apply(about(Verb::acquire, "a", id, fair, lease, wait), start);
    table.apply(about(Verb::subscribe, "a", id, fair), start, &subscriber);
  }
  table.apply(about(Verb::release, "a", 1, fair), start);
  ASSERT_EQ(subscriber.notes.size(), 1U);
  EXPECT_EQ(subscriber.notes[0].id, 2U);
  // The place of the first waiter ends. The next acquire finds that out and notifies the second.
  table.apply(about(Verb::acquire, "a", 3, fair, lease, milliseconds(2'000)), start);
  const Outcome busy = table.apply(about(Verb::acquire, "a", 4, fair, lease), start + wait);
  EXPECT_EQ(busy.kind, Kind::busy);
  EXPECT_EQ(busy.holder, "") << "nobody holds it";
  ASSERT_EQ(subscriber.notes.size(), 2U);
  EXPECT_EQ(subscriber.notes[1].id, 3U);
  EXPECT_EQ(table.apply(about(Verb::acquire, "a", 3, fair, lease), start + wait).kind,
            Kind::granted);
}

// A process reads the time before it has the table: another one, with a later time, may be first.
TEST(LockTable, AFairGrantHasALargerNumberThanTheReplyBeforeItThoughItsTimeIsEarlier) {
  LockTable table;
  RecordingSubscriber subscriber;
  const auto fair = LockType::FAIR;
  const milliseconds lease(30'000), wait(500);
  table.apply(about(Verb::acquire, "a", 1, fair, lease), start);
  const Request waiter = about(Verb::acquire, "a", 2, fair, lease, wait);
  const Outcome busy = table.apply(waiter, start + milliseconds(2));
  table.apply(about(Verb::subscribe, "a", 2, fair), start + milliseconds(2), &subscriber);
  table.apply(about(Verb::release, "a", 1, fair), start + milliseconds(1));
  ASSERT_EQ(subscriber.notes.size(), 1U);
  EXPECT_EQ(subscriber.notes[0].kind, Notification::Kind::granted);
  EXPECT_GT(subscriber.notes[0].place, busy.place);
}

TEST(LockTable, TokensIncreaseAfterTheirRecordsAreDropped) {
  LockTable table;
  const auto fenced = LockType::FENCED;
  const Outcome first = table.apply(about(Verb::acquire, "a", 1, fenced), start);
  EXPECT_EQ(first.token, 3'600'000'000'000U) << "a thousand hours in microseconds";
  table.apply(about(Verb::release, "a", 1, fenced), start);
  EXPECT_EQ(table.size(), 0U);
  Request block = about(Verb::acquire, "a", 2, fenced);
  block.tokens = 10;
  // Also after the clock went back.
  EXPECT_EQ(table.apply(block, start - std::chrono::hours(1)).token, first.token + 10);
}

TEST(LockTable, SaysWhoWasAskedUntilTheLeasesThatRanThenHaveEnded) {
  LockTable table;
  const auto asked = [&](milliseconds at) {
    LockInfo info;
    Request inspect = about(Verb::inspect, "a", 0);
    inspect.info = &info;
    table.apply(inspect, start + at);
    std::vector<std::string> all;
    for (const HolderInfo& holder : info.holders) {
      if (holder.revoked) all.push_back(holder.id + ' ' + std::to_string(holder.revoked->count()));
    }
    return all;
  };
  const std::string first = HoldId{{7, 9}, 1}.text(), second = HoldId{{7, 9}, 2}.text();
  using Texts = std::vector<std::string>;
  EXPECT_EQ(table.apply(about(Verb::revoke, "a", 0), start).kind, Kind::granted);
  EXPECT_EQ(table.size(), 0U) << "it makes no record";
  table.apply(about(Verb::acquire, "a", 1, LockType::READ), start);
  table.apply(about(Verb::acquire, "a", 2, LockType::READ, milliseconds(3'000)), start);
  EXPECT_EQ(asked(milliseconds(0)), Texts{});
  table.apply(about(Verb::revoke, "a", 0), start + milliseconds(100));
  table.apply(about(Verb::acquire, "a", 3, LockType::READ, milliseconds(9'000)), start);
  table.apply(about(Verb::renew, "a", 1, LockType::READ, milliseconds(9'000)), start);
  EXPECT_EQ(asked(milliseconds(350)), (Texts{first + " 250", second + " 250"}));
  EXPECT_EQ(asked(milliseconds(2'900)), (Texts{first + " 2800", second + " 2800"}));
  EXPECT_EQ(asked(milliseconds(3'000)), Texts{}) << "the second one has ended, the first is over";
  table.apply(about(Verb::revoke, "a", 0), start + milliseconds(4'000));
  EXPECT_EQ(asked(milliseconds(4'000)).size(), 2U);
  table.apply(about(Verb::force_release, "a", 0), start + milliseconds(4'000));
  table.apply(about(Verb::acquire, "a", 1), start + milliseconds(4'000));
  EXPECT_EQ(asked(milliseconds(4'000)), Texts{}) << "an id that is used again";
}

TEST(LockTable, ListsLockedKeys) {
  LockTable table;
  for (const char* key : {"b:2", "a:1", "b:1"}) table.apply(about(Verb::acquire, key, 1), start);
  std::vector<std::string> names{"kept"};
  Request list = about(Verb::list, "b:*", 0);
  list.names = &names;
  table.apply(list, start);
  EXPECT_EQ(names, (std::vector<std::string>{"kept", "b:1", "b:2"}));
  table.apply(list, start + std::chrono::hours(1));
  EXPECT_EQ(names.size(), 3U) << "nothing is held any more";
  EXPECT_EQ(table.size(), 0U);
}

TEST(LockTable, AcquireAllGivesItsFencedMembersOneToken) {
  LockTable table;
  const std::vector<Member> members{{"a", LockType::FENCED, {{7, 9}, 1}},
                                    {"b", LockType::FENCED, {{7, 9}, 2}}};
  Request all = about(Verb::acquire_all, "", 0);
  all.members = members;
  const Outcome outcome = table.apply(all, start);
  EXPECT_EQ(outcome.kind, Kind::granted);
  EXPECT_GT(outcome.token, 0U);
  EXPECT_EQ(table.apply(about(Verb::acquire, "b", 2, LockType::FENCED), start).token,
            outcome.token);
}

// The scripts give none either: seed 815759 of the agreement.
TEST(LockTable, ARepeatedReadOfAHoldThatWasAWriteHasNoToken) {
  LockTable table;
  Request write = about(Verb::acquire, "k", 1, LockType::WRITE);
  write.fenced = true;
  EXPECT_NE(table.apply(write, start).token, 0U);
  table.apply(about(Verb::downgrade, "k", 1, LockType::WRITE), start);
  EXPECT_EQ(table.apply(about(Verb::acquire, "k", 1, LockType::READ), start).token, 0U);
}

}  // namespace
}  // namespace latchkey::detail
