// The descriptors of a store's client, as one.
#include "stores/driver/descriptor_set.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>

namespace latchkey::detail::stores {
namespace {

class DescriptorSetTest : public ::testing::Test {
 protected:
  static FileDescriptor make() { return FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }
  static short poll(const DescriptorSet::Ready& polled) {
    pollfd one{.fd = polled.descriptor, .events = polled.events, .revents = 0};
    ::poll(&one, 1, 0);
    return one.revents;
  }

  const FileDescriptor first = make(), second = make();
  DescriptorSet set;
};

TEST_F(DescriptorSetTest, TheOnlyDescriptorIsPolledItself) {
  EXPECT_EQ(set.polled().descriptor, set.descriptor());
  set.watch(first.get(), POLLIN | POLLOUT);
  EXPECT_EQ(set.polled().descriptor, first.get());
  EXPECT_EQ(set.polled().events, POLLIN | POLLOUT);
  EXPECT_EQ(poll(set.polled()), POLLOUT);
}

TEST_F(DescriptorSetTest, SeveralDescriptorsArePolledAsOne) {
  set.watch(first.get(), POLLIN);
  set.watch(second.get(), POLLIN);
  EXPECT_EQ(set.polled().descriptor, set.descriptor());
  EXPECT_EQ(poll(set.polled()), 0);
  ::eventfd_write(second.get(), 1);
  EXPECT_EQ(poll(set.polled()), POLLIN);
  EXPECT_EQ(set.ready(first.get()), 0);
  EXPECT_EQ(set.ready(second.get()), POLLIN);
}

TEST_F(DescriptorSetTest, WhoeverPollsIsToldOfEachChange) {
  std::uint64_t before = set.changes();
  const auto has_changed = [&] { return std::exchange(before, set.changes()) != before; };
  set.watch(first.get(), POLLIN);
  EXPECT_TRUE(has_changed());
  set.watch(first.get(), POLLIN);
  EXPECT_FALSE(has_changed());
  set.watch(first.get(), POLLOUT);
  EXPECT_TRUE(has_changed());
  set.forget(second.get());
  EXPECT_FALSE(has_changed());
  set.forget(first.get());
  EXPECT_TRUE(has_changed());
  set.renew();
  EXPECT_TRUE(has_changed());
}

TEST_F(DescriptorSetTest, WhatAThreadHasPolledIsNotAskedForAgain) {
  set.watch(first.get(), POLLIN);
  set.know_events(0);
  ::eventfd_write(first.get(), 1);
  EXPECT_EQ(set.ready(first.get()), 0);
  set.forget_events();
  EXPECT_EQ(set.ready(first.get()), POLLIN);
}

TEST_F(DescriptorSetTest, WhatAThreadHasPolledIsForgottenWithItsDescriptor) {
  set.watch(first.get(), POLLIN);
  set.know_events(POLLIN);
  EXPECT_EQ(set.ready(first.get()), POLLIN);
  set.forget(first.get());
  set.watch(second.get(), POLLIN);
  EXPECT_EQ(set.ready(second.get()), 0);
}

}  // namespace
}  // namespace latchkey::detail::stores
