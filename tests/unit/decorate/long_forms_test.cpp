// The long forms of the macros, for programs that use the short names for something else.
#define LATCHKEY_NO_SHORT_MACROS
#define LOCKED belongs to another library
#define KEYS this is too
#include <latchkey/latchkey.hpp>

#undef LOCKED
#undef KEYS

#include <gtest/gtest.h>

#include <latchkey/testing/scoped_locks.hpp>

#if defined(HERE) || defined(AROUND) || defined(DECORATED) || defined(ASSERT_HELD)
#error "LATCHKEY_NO_SHORT_MACROS leaves short macros"
#endif

namespace {

struct Counter {
  int around() {
    return LATCHKEY_LOCKED("long") LATCHKEY_AROUND() { return ++count; };
  }
  LATCHKEY_DECORATED(LATCHKEY_LOCKED("long:{step}"), int, declared, (int)step) {
    LATCHKEY_ASSERT_HELD("long:{step}", step);
    return count += step;
  }
  bool here() {
    auto hold = LATCHKEY_LOCKED("long") LATCHKEY_HERE();
    return !hold.lost();
  }
  int count = 0;
};

TEST(LongForms, BehaveLikeTheShortForms) {
  const latchkey::testing::ScopedLocks scope(latchkey::Locks::connect("memory:"));
  Counter counter;
  EXPECT_EQ(counter.around(), 1);
  EXPECT_EQ(counter.declared(2), 3);
  EXPECT_TRUE(counter.here());
}

}  // namespace
