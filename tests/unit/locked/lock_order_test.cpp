// Options::check_order: which orders are reported, to whom, and which are ignored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <sstream>
#include <string>

#include <latchkey/decorate.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/testing/recorder.hpp>
#include <latchkey/testing/scoped_locks.hpp>

namespace {

using namespace std::chrono_literals;
using latchkey::Event;
using latchkey::Locks;
using latchkey::LockType;
using latchkey::testing::ScopedLocks;
using ::testing::AllOf;
using testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsEmpty;

// The order graph belongs to the process, so each test uses different keys.

void one_within(const std::string& outer, const std::string& inner) {
  LOCKED("order {outer}:1", LockType::WRITE) AROUND(outer, inner) {
    LOCKED("order {inner}:2", LockType::WRITE) AROUND(inner){};
  };
}
void other_within(const std::string& outer, const std::string& inner) {
  LOCKED("order {outer}:2", LockType::WRITE) AROUND(outer, inner) {
    LOCKED("order {inner}:1", LockType::WRITE) AROUND(inner){};
  };
}

TEST(LockOrder, OppositeOrdersAreReportedWithBothSites) {
  const ScopedLocks locks;
  one_within("a", "b");
  EXPECT_THAT(locks.order_reports(), IsEmpty());
  other_within("c", "d");
  const auto events = locks.events();
  EXPECT_THAT(locks.order_reports(),
              ElementsAre(AllOf(HasSubstr("in both orders"), HasSubstr("one_within"),
                                HasSubstr("other_within"), HasSubstr("lock_order_test.cpp:"))));
  for (const Event& event : events) {
    if (event.kind != Event::Kind::order) continue;
    EXPECT_EQ(event.key, "order d:1");
    EXPECT_EQ(event.origin.key_template, "order {inner}:1");
    EXPECT_EQ(event.method(), "other_within");
  }
  one_within("a", "b");
  other_within("c", "d");
  EXPECT_THAT(locks.order_reports(), IsEmpty()) << "once";
}

void nested(const std::string& outer, const std::string& inner, latchkey::Wait wait) {
  LOCKED("nested:{outer}", LockType::WRITE) AROUND(outer, inner, wait) {
    auto within = LOCKED("nested:{0}", LockType::WRITE)([](const std::string&) {});
    if (wait != latchkey::Wait(0ms)) return within(inner);
    LOCKED("nested:{inner}", LockType::WRITE, 0ms) AROUND(inner){};
  };
}

TEST(LockOrder, IgnoresReentriesAndAttemptsWithoutAWait) {
  const ScopedLocks locks;
  nested("a", "b", 3s);
  nested("b", "b", 3s);
  nested("b", "a", 0ms);
  EXPECT_THAT(locks.order_reports(), IsEmpty());
  nested("b", "a", 3s);
  EXPECT_THAT(locks.order_reports(),
              ElementsAre(HasSubstr("'nested:a' of 'nested:{0}' by nested")));
}

void unchecked(int outer, int inner) {
  LOCKED("unchecked:{outer}") AROUND(outer, inner) { LOCKED("unchecked:{inner}") AROUND(inner){}; };
}

TEST(LockOrder, IsCheckedOnlyIfTheOptionIsSet) {
  latchkey::testing::Recorder recorder;
  const ScopedLocks locks(Locks::connect("memory:", {.listener = &recorder}));
  unchecked(1, 2);
  unchecked(2, 1);
  ASSERT_TRUE(locks.locks().flush(10s));
  EXPECT_EQ(recorder.count(Event::Kind::order), 0U);
}

void without_listener(int outer, int inner) {
  LOCKED("without_listener:{outer}") AROUND(outer, inner) {
    LOCKED("without_listener:{inner}") AROUND(inner){};
  };
}

TEST(LockOrder, IsPrintedToStandardErrorWithoutAListener) {
  const ScopedLocks locks(Locks::connect("memory:", {.check_order = true}));
  std::ostringstream said;
  std::streambuf* const before = std::clog.rdbuf(said.rdbuf());
  without_listener(1, 2);
  without_listener(2, 1);
  std::clog.rdbuf(before);
  EXPECT_THAT(
      said.str(),
      HasSubstr("latchkey: two keys of one kind are taken in descending order: "
                "'without_listener:1' of 'without_listener:{inner}' by without_listener ("));
}

}  // namespace
