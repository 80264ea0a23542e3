// How many descriptors and threads a process may have.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/run/resources.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace latchkey::chaos {
namespace {

constexpr Resources first{.descriptors = 20, .eventfds = 3, .threads = 8};

TEST(Resources, AFewMoreDescriptorsAndThreadsAreNoLeak) {
  EXPECT_EQ(too_many(first, first), "");
  EXPECT_EQ(too_many({.descriptors = 24, .eventfds = 3, .threads = 12}, first), "");
}

TEST(Resources, ManyMoreDescriptorsOrThreadsAreOne) {
  EXPECT_NE(too_many({.descriptors = 25, .eventfds = 3, .threads = 8}, first), "");
  EXPECT_NE(too_many({.descriptors = 20, .eventfds = 3, .threads = 13}, first), "");
}

// The judge took those of threads that had slept at the three connections of a quorum for a leak.
TEST(Resources, EachConnectionKeepsEventfdsForThreadsThatSleep) {
  EXPECT_EQ(too_many({.descriptors = 20, .eventfds = 48, .threads = 8}, first), "");
  EXPECT_NE(too_many({.descriptors = 20, .eventfds = 65, .threads = 8}, first), "");
}

TEST(Resources, AreThoseOfTheProcess) {
  const Resources before = resources_of(::getpid());
  EXPECT_GE(before.descriptors, 1U);
  EXPECT_GE(before.threads, 1U);
  const int eventfd = ::eventfd(0, EFD_CLOEXEC), other = ::dup(0);
  const Resources after = resources_of(::getpid());
  ::close(eventfd);
  ::close(other);
  EXPECT_EQ(after.eventfds, before.eventfds + 1);
  EXPECT_EQ(after.descriptors, before.descriptors + 1);
}

}  // namespace
}  // namespace latchkey::chaos
