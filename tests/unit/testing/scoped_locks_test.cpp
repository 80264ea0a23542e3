// ScopedLocks: nesting, recorded events, and failing a test that breaks the lock order.
#include <latchkey/testing/scoped_locks.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include <latchkey/decorate.hpp>
#include <latchkey/default_locks.hpp>
#include <latchkey/testing/manual_clock.hpp>
#include <latchkey/testing/mock_backend.hpp>

namespace {

using latchkey::Event;
using latchkey::Locks;
using latchkey::LockType;
using latchkey::testing::Recorder;
using latchkey::testing::ScopedLocks;
using latchkey::testing::Taken;
using testing::ElementsAre;
using testing::IsEmpty;

void work(int id) { LOCKED("work:{id}", LockType::FAIR) AROUND(id){}; }

TEST(ScopedLocks, NestAndEnd) {
  const ScopedLocks outer;
  EXPECT_EQ(&latchkey::default_locks(), &outer.locks());
  {
    const ScopedLocks inner;
    EXPECT_EQ(&latchkey::default_locks(), &inner.locks());
    work(1);
    EXPECT_THAT(inner.taken(), ElementsAre(Taken{"work:1", LockType::FAIR}));
  }
  EXPECT_EQ(&latchkey::default_locks(), &outer.locks());
  work(2);
  EXPECT_THAT(outer.taken(), ElementsAre(Taken{"work:2", LockType::FAIR}));
}

TEST(ScopedLocks, RecordWhatWasTakenUntilForgotten) {
  const ScopedLocks locks({.prefix = "test:"});
  work(1);
  const auto events = locks.events();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].kind, Event::Kind::attempt);
  EXPECT_EQ(events[2].kind, Event::Kind::released);
  for (const Event& event : events) {
    EXPECT_EQ(event.key, "work:1");
    EXPECT_EQ(event.method(), "work");
    EXPECT_EQ(event.origin.key_template, "work:{id}");
  }
  locks.forget();
  EXPECT_THAT(locks.taken(), IsEmpty());
}

TEST(ScopedLocks, PassEventsOn) {
  Recorder recorder;
  {
    const ScopedLocks locks({.listener = &recorder});
    work(1);
  }
  EXPECT_THAT(recorder.taken(), ElementsAre(Taken{"work:1", LockType::FAIR}));
}

TEST(ScopedLocks, RecordNothingForLocksOfTheTest) {
  const ScopedLocks locks(Locks::connect("memory:"));
  work(1);
  EXPECT_THROW(static_cast<void>(locks.taken()), std::logic_error);
}

TEST(ScopedLocks, AreClosedAtTheEnd) {
  auto locks = std::make_unique<ScopedLocks>();
  const latchkey::Hold hold = locks->locks().lock("left").acquire(latchkey::forever);
  locks.reset();
  EXPECT_TRUE(hold.lost());
}

void nest(int outer, int inner) {
  LOCKED("scoped locks:{outer}") AROUND(outer, inner) {
    LOCKED("scoped locks:{inner}") AROUND(inner){};
  };
}

TEST(ScopedLocks, FailTheTestThatBreaksTheOrder) {
  const auto break_the_order = [] {
    const ScopedLocks locks;
    nest(1, 2);
    nest(2, 1);
  };
  EXPECT_NONFATAL_FAILURE(break_the_order(), "lock order: two keys of one kind");
}

}  // namespace
