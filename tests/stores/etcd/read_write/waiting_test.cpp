// Places of READ and WRITE in the queue: their keys, their order, and sessions that end.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/recorder.hpp>

#include "fixture.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using enum LockType;

using EtcdReadWrite = EtcdReadWriteTest;

TEST_F(EtcdReadWrite, EachHoldIsOneKeyThatIsNeverWrittenAgain) {
  for (const LockType type : {READ, WRITE}) {
    Waiter one(uri());
    EXPECT_EQ(acquire(one, type).kind, Kind::granted);
    EXPECT_EQ(renew(one, type), Kind::granted);
    EXPECT_EQ(acquire(one, type).kind, Kind::granted) << "repeated";
    ASSERT_EQ(keys().size(), 1U);
    const std::string key = keys()[0];
    EXPECT_TRUE(key.starts_with(key_ + (type == READ ? "/read/" : "/write/"))) << key;
    const std::string fields = server_.ctl({"get", key, "-w", "fields"});
    EXPECT_NE(fields.find("\"Version\" : 1\n"), std::string::npos) << "Go orders by the last write";
    EXPECT_NE(fields.find("\"Value\" : \"" + one.id.text() + "\"\n"), std::string::npos) << fields;
    const std::string time = server_.ctl({"lease", "timetolive", lease_of(key), "--keys"});
    EXPECT_NE(time.find(key), std::string::npos) << time;
    EXPECT_EQ(release(one, type), Kind::granted);
    EXPECT_TRUE(keys().empty());
  }
}

TEST_F(EtcdReadWrite, AnAttemptThatDoesNotWaitLeavesNoKey) {
  Waiter holder(uri()), other(uri());
  for (const LockType held : {READ, WRITE, REENTRANT}) {
    EXPECT_EQ(acquire(holder, held).kind, Kind::granted);
    for (const LockType type : {READ, WRITE, REENTRANT, FAIR, FENCED}) {
      if (held == READ && type == READ) continue;
      EXPECT_EQ(attempt(other, type), Kind::busy) << to_string(held) << ", " << to_string(type);
    }
    EXPECT_EQ(keys().size(), 1U);
    EXPECT_EQ(release(holder, held), Kind::granted);
  }
}

TEST_F(EtcdReadWrite, ACallThatGivesUpLeavesNoKey) {
  const Locks locks = etcd_locks(uri()), other = etcd_locks(uri());
  Hold hold = locks.lock(key_, WRITE).acquire(1s, 20s);
  for (const LockType type : {READ, WRITE}) {
    EXPECT_FALSE(other.lock(key_, type).try_acquire(300ms, 5s));
    EXPECT_TRUE(eventually([&] { return keys().size() == 1; })) << to_string(type);
  }
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(hold.release());
  EXPECT_TRUE(keys().empty());
}

TEST_F(EtcdReadWrite, PlacesAreServedInTheOrderOfTheirKeys) {
  Waiter holder(uri()), reader(uri()), second(uri()), writer(uri()), plain(uri()), last(uri());
  EXPECT_EQ(acquire(holder, WRITE).kind, Kind::granted);
  std::uint64_t before = 0;
  struct Arrival {
    Waiter* who;
    LockType type;
  };
  for (const auto& [who, type] :
       {Arrival{&reader, READ}, Arrival{&second, READ}, Arrival{&writer, WRITE},
        Arrival{&plain, REENTRANT}, Arrival{&last, READ}}) {
    const Outcome busy = acquire(*who, type);
    EXPECT_EQ(busy.kind, Kind::busy);
    EXPECT_GT(busy.place, before);
    before = busy.place;
  }
  EXPECT_EQ(release(holder, WRITE), Kind::granted);
  EXPECT_TRUE(is_told(reader, Note::released));
  EXPECT_TRUE(is_told(second, Note::released));
  EXPECT_EQ(acquire(last, READ).kind, Kind::busy) << "behind a writer";
  EXPECT_EQ(acquire(reader, READ).kind, Kind::granted);
  EXPECT_EQ(acquire(second, READ).kind, Kind::granted);
  EXPECT_EQ(attempt(holder, READ), Kind::busy) << "a writer waits";
  EXPECT_EQ(release(reader, READ), Kind::granted);
  EXPECT_TRUE(is_told_nothing(writer));
  EXPECT_EQ(release(second, READ), Kind::granted);
  EXPECT_TRUE(is_told(writer, Note::granted));
  EXPECT_TRUE(is_told_nothing(plain));
  EXPECT_EQ(release(writer, WRITE), Kind::granted);
  EXPECT_TRUE(is_told(plain, Note::granted));
  EXPECT_TRUE(is_told_nothing(last));
  EXPECT_EQ(release(plain, REENTRANT), Kind::granted);
  EXPECT_TRUE(is_told(last, Note::released));
  EXPECT_EQ(acquire(last, READ).kind, Kind::granted);
  EXPECT_EQ(release(last, READ), Kind::granted);
  EXPECT_TRUE(keys().empty());
}

TEST_F(EtcdReadWrite, AReaderIsGrantedWhenTheWriterInFrontOfItGivesUp) {
  Waiter holder(uri()), writer(uri()), reader(uri());
  EXPECT_EQ(acquire(holder, READ).kind, Kind::granted);
  EXPECT_EQ(acquire(writer, WRITE).kind, Kind::busy);
  EXPECT_EQ(acquire(reader, READ).kind, Kind::busy);
  EXPECT_EQ(writer.probe.send(Verb::leave, key_, WRITE, writer.id).kind, Kind::granted);
  EXPECT_TRUE(is_told(reader, Note::released));
  EXPECT_EQ(acquire(reader, READ).kind, Kind::granted);
}

TEST_F(EtcdReadWrite, AWriteIsNotStarvedByReadsThatOverlap) {
  const Locks one = etcd_locks(uri()), other = etcd_locks(uri()), third = etcd_locks(uri());
  std::atomic<bool> stop = false;
  std::atomic<int> reads{0};
  std::vector<std::jthread> readers;
  for (const Locks& locks : {one, other}) {
    for (int index = 0; index < 2; ++index) {
      readers.emplace_back([&, locks] {
        while (!stop) {
          const Hold hold = locks.lock(key_, READ).acquire(20s, 5s);
          ++reads;
          // sleeps: reads that overlap
          std::this_thread::sleep_for(20ms);
        }
      });
    }
  }
  EXPECT_TRUE(eventually([&] { return reads > 4; }));
  for (int round = 0; round < 5; ++round) {
    EXPECT_TRUE(third.lock(key_, WRITE).try_acquire(5s, 5s)) << "after " << reads << " reads";
  }
  stop = true;
}

// Go's RWMutex grants the lock to such a waiter: see EtcdRecipe.
TEST_F(EtcdReadWrite, AWaiterWhoseSessionEndedIsToldAndNotGranted) {
  for (const LockType type : {READ, WRITE}) {
    SCOPED_TRACE(to_string(type));
    Waiter holder(uri()), waiter(uri()), next(uri());
    EXPECT_EQ(acquire(holder, WRITE).kind, Kind::granted);
    EXPECT_EQ(acquire(waiter, type).kind, Kind::busy);
    server_.ctl({"lease", "revoke", lease_of(last_key())});
    EXPECT_EQ(acquire(next, WRITE).kind, Kind::busy);
    // The watch of the waiter tells of this deletion. By then its own key is gone.
    EXPECT_EQ(release(holder, WRITE), Kind::granted);
    EXPECT_TRUE(is_told(next, Note::granted));
    EXPECT_TRUE(is_told(waiter, Note::released));
    EXPECT_EQ(waiter.probe.send(Verb::verify, key_, type, waiter.id).kind, Kind::gone);
    EXPECT_EQ(acquire(waiter, type).kind, Kind::busy) << "behind the one that came meanwhile";
    EXPECT_EQ(release(next, WRITE), Kind::granted);
    EXPECT_TRUE(is_told(waiter, type == READ ? Note::released : Note::granted));
    EXPECT_EQ(acquire(waiter, type).kind, Kind::granted);
    EXPECT_EQ(release(waiter, type), Kind::granted);
    EXPECT_TRUE(keys().empty());
  }
}

TEST_F(EtcdReadWrite, AWaiterWhoseKeyAloneWasDeletedIsNotGranted) {
  for (const LockType type : {READ, WRITE}) {
    SCOPED_TRACE(to_string(type));
    Waiter holder(uri()), waiter(uri()), next(uri());
    EXPECT_EQ(acquire(holder, WRITE).kind, Kind::granted);
    EXPECT_EQ(acquire(waiter, type).kind, Kind::busy);
    server_.ctl({"del", last_key()});
    EXPECT_EQ(acquire(next, WRITE).kind, Kind::busy);
    EXPECT_EQ(release(holder, WRITE), Kind::granted);
    EXPECT_TRUE(is_told(next, Note::granted));
    EXPECT_TRUE(is_told(waiter, Note::released));
    EXPECT_EQ(acquire(waiter, type).kind, Kind::busy);
    EXPECT_EQ(waiter.probe.send(Verb::leave, key_, type, waiter.id).kind, Kind::granted);
    EXPECT_EQ(release(next, WRITE), Kind::granted);
    EXPECT_TRUE(keys().empty());
  }
}

TEST_F(EtcdReadWrite, ACallWhoseSessionEndedWhileItWaitedTakesAnotherPlace) {
  for (const LockType type : {READ, WRITE}) {
    SCOPED_TRACE(to_string(type));
    const Locks locks = etcd_locks(uri()), other = etcd_locks(uri()), third = etcd_locks(uri());
    Hold hold = locks.lock(key_, WRITE).acquire(1s, 20s);
    std::atomic<bool> granted = false;
    std::thread waiter([&] {
      const Hold own = other.lock(key_, type).acquire(20s, 5s);
      granted = true;
      EXPECT_FALSE(own.lost());
    });
    ASSERT_TRUE(eventually([&] { return keys().size() == 2; }));
    const std::string place = last_key();
    std::atomic<bool> over = false;
    std::thread next([&] {
      const Hold own = third.lock(key_, WRITE).acquire(20s, 5s);
      EXPECT_FALSE(granted);
      // sleeps: a waiter that believes in a grant would have it by now
      std::this_thread::sleep_for(200ms);
      EXPECT_FALSE(granted) << "two holders";
      over = true;
    });
    ASSERT_TRUE(eventually([&] { return keys().size() == 3; }));
    server_.ctl({"lease", "revoke", lease_of(place)});
    EXPECT_TRUE(hold.release());
    next.join();
    waiter.join();
    EXPECT_TRUE(granted && over);
    EXPECT_TRUE(keys().empty());
  }
}

TEST_F(EtcdReadWrite, InspectNamesReadersAndWhoWaits) {
  Waiter one(uri()), two(uri()), writer(uri()), asks(uri());
  EXPECT_EQ(acquire(one, READ).kind, Kind::granted);
  EXPECT_EQ(acquire(two, READ).kind, Kind::granted);
  EXPECT_EQ(acquire(writer, WRITE).kind, Kind::busy);
  LockInfo info = asks.probe.inspect(key_);
  EXPECT_EQ(info.type, READ);
  ASSERT_EQ(info.holders.size(), 2U);
  EXPECT_EQ(info.holders[0].id, one.id.text());
  EXPECT_EQ(info.holders[1].id, two.id.text());
  EXPECT_EQ(info.queue, std::vector{writer.id.text()});
  EXPECT_FALSE(info.fencing_token.has_value());
  EXPECT_EQ(asks.probe.list(key_), std::vector{key_});
  ListPart part;
  part.awaited = true;
  std::vector<std::string> names;
  EXPECT_EQ(asks.probe.list(key_, part, names).kind, Kind::granted);
  EXPECT_EQ(names, std::vector{key_});
  EXPECT_EQ(part.waiters, std::vector<std::uint64_t>{1});
  EXPECT_EQ(asks.probe.send(Verb::force_release, key_).kind, Kind::granted);
  EXPECT_TRUE(is_told(writer, Note::granted));
  EXPECT_EQ(renew(one, READ), Kind::gone);
  EXPECT_EQ(renew(two, READ), Kind::gone);
  info = asks.probe.inspect(key_);
  EXPECT_EQ(info.type, WRITE);
  ASSERT_EQ(info.holders.size(), 1U);
  EXPECT_EQ(info.holders[0].id, writer.id.text());
  EXPECT_TRUE(info.fencing_token.has_value());
}

TEST_F(EtcdReadWrite, AReaderThatWaitsAndListensCountsOnce) {
  const Locks locks = etcd_locks(uri()), other = etcd_locks(uri());
  Hold hold = locks.lock(key_, WRITE).acquire(1s, 20s);
  std::thread waiter([&] { static_cast<void>(other.lock(key_, READ).acquire(10s, 5s)); });
  const std::string markers = "latchkey.waiting/" + key_ + '/';
  EXPECT_TRUE(eventually([&] { return keys().size() == 2 && server_.keys(markers).size() == 1; }));
  const ListPage awaited = locks.list_awaited(key_);
  EXPECT_EQ(awaited.names, std::vector{key_});
  EXPECT_EQ(awaited.waiters, std::vector<std::uint64_t>{1});
  EXPECT_TRUE(hold.release());
  waiter.join();
}

TEST_F(EtcdReadWrite, ARevokedSessionIsTheLossOfItsHolds) {
  testing::Recorder recorder(false);
  Options options;
  options.listener = &recorder;
  const Locks locks = etcd_locks(uri(), options);
  const Hold read = locks.lock(key_, READ).acquire(1s);
  server_.ctl({"lease", "revoke", lease_of(keys().at(0))});
  EXPECT_TRUE(eventually([&] { return read.lost(); }));
  EXPECT_TRUE(recorder.await(Event::Kind::lost));
}

}  // namespace
}  // namespace latchkey::tests
