// An uncontended lock of the memory backend allocates nothing once it is warm.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>

#include <latchkey/latchkey.hpp>

#include "support/allocations.hpp"
#include "support/lock_types.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

class MemoryAllocations : public ::testing::TestWithParam<LockType> {
 protected:
  /// How often 1 000 calls allocate.
  template <class Call>
  static std::size_t of(Call&& call) {
    for (int round = 0; round < 200; ++round) call();
    const std::size_t before = allocations();
    for (int round = 0; round < 1'000; ++round) call();
    return allocations() - before;
  }

  Lock lock_ = Locks::connect("memory:").lock(std::string(64, 'k'), GetParam());
};

TEST_P(MemoryAllocations, OfAWarmLockAreNone) {
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer has a heap of its own";
  EXPECT_EQ(of([&] {
              lock_.lock();
              lock_.unlock();
            }),
            0U);
  EXPECT_EQ(of([&] { EXPECT_TRUE(lock_.try_acquire(0s, 30s).has_value()); }), 0U);
  EXPECT_EQ(of([&] {
              Hold outer = lock_.acquire(forever);
              const Hold inner = lock_.acquire(1s, 60s);
              static_cast<void>(outer.release());
            }),
            0U);
}

TEST(MemoryAllocationsOfKeys, OfAWarmLockedAreNone) {
  if (!counts_allocations()) GTEST_SKIP() << "a sanitizer has a heap of its own";
  const Locks locks = Locks::connect("memory:");
  std::string from(40, 'f'), to(40, 't');
  const auto transfer = [&] {
    return LOCKED(KEYS("from:{from}", "to:{to}"), LockType::WRITE, 3s, 30s)
        .in(locks)AROUND(from, to) {
      return from.size();
    };
  };
  for (int round = 0; round < 200; ++round) EXPECT_EQ(transfer(), 40U);
  const std::size_t before = allocations();
  for (int round = 0; round < 1'000; ++round) transfer();
  EXPECT_EQ(allocations() - before, 0U);
}

INSTANTIATE_TEST_SUITE_P(Types, MemoryAllocations, ::testing::ValuesIn(all_types),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

}  // namespace
}  // namespace latchkey::tests
