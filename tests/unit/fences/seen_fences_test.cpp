// SeenFences: the guard in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/fence.hpp>
#include <latchkey/fences/seen_fences.hpp>

#include "support/refusal.hpp"

namespace latchkey {
namespace {

Fence fence(const std::string& key, std::uint64_t token) { return {.key = key, .token = token}; }

TEST(SeenFences, RefusesALowerTokenAndNamesBoth) {
  SeenFences seen;
  seen.admit(fence("order:42", 5));
  seen.admit(fence("order:42", 9));
  seen.admit(fence("order:42", 9));  // the same holder writes again
  try {
    seen.admit(fence("order:42", 5));
    FAIL() << "admitted";
  } catch (const FenceRejected& error) {
    EXPECT_EQ(error.key(), "order:42");
    EXPECT_EQ(error.presented(), 5U);
    EXPECT_EQ(error.highest(), 9U);
    EXPECT_STREQ(error.what(),
                 "the fence of 'order:42' is too old: token 5 was presented, but token 9 was seen "
                 "before; the lock went to a later holder");
  }
  EXPECT_EQ(seen.highest("order:42"), 9U);
}

TEST(SeenFences, KeysAreSeparate) {
  SeenFences seen;
  seen.admit(fence("a", 100));
  seen.admit(fence("b", 1));
  EXPECT_EQ(seen.highest("a"), 100U);
  EXPECT_EQ(seen.highest("b"), 1U);
  EXPECT_EQ(seen.highest("c"), std::nullopt);
}

TEST(SeenFences, ForgetsTheKeyUsedLongestAgoAndNeverAdmitsALateWriterOfIt) {
  SeenFences seen(2);
  seen.admit(fence("a", 10));
  seen.admit(fence("b", 11));
  seen.admit(fence("a", 10));
  seen.admit(fence("c", 12));  // forgets b
  EXPECT_EQ(seen.highest("a"), 10U);
  EXPECT_EQ(seen.highest("b"), std::nullopt);
  EXPECT_EQ(tests::refusal([&] { seen.admit(fence("b", 8)); }),
            "the fence of 'b' is too old: token 8 was presented, but the guard has forgotten keys "
            "with tokens up to 11: acquire the lock anew");
  EXPECT_THROW(seen.admit(fence("new", 10)), FenceRejected);
  seen.admit(fence("a", 10));  // what is not forgotten is compared with its own token only
  seen.admit(fence("b", 11));  // its last holder
}

TEST(SeenFences, HasAtLeastOneKey) {
  SeenFences seen(0);
  seen.admit(fence("a", 1));
  EXPECT_EQ(seen.highest("a"), 1U);
}

TEST(SeenFences, ThreadsNeverSeeATokenFall) {
  SeenFences seen(4);
  std::atomic<bool> fell = false;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t number = 0; number < 4; ++number) {
      threads.emplace_back([&, number] {
        std::uint64_t last = 0;
        for (std::uint64_t round = 1; round <= 5'000; ++round) {
          try {
            seen.admit(fence("k", round * 4 + number));
          } catch (const FenceRejected& error) {
            if (error.highest() <= error.presented()) fell = true;
          }
          const std::uint64_t now = seen.highest("k").value_or(0);
          if (now < last) fell = true;
          last = now;
        }
      });
    }
  }
  EXPECT_FALSE(fell);
  EXPECT_EQ(seen.highest("k"), 5'000U * 4 + 3);
}

TEST(SeenFences, MayBeMoved) {
  SeenFences seen;
  seen.admit(fence("a", 3));
  SeenFences moved = std::move(seen);
  EXPECT_THROW(moved.admit(fence("a", 2)), FenceRejected);
}

}  // namespace
}  // namespace latchkey
