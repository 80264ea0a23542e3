// An epoll instance with the descriptors of a store's client.
// SPDX-License-Identifier: BSL-1.0
#include "stores/driver/descriptor_set.hpp"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <new>

namespace latchkey::inline v1::detail::stores {
namespace {

FileDescriptor make_epoll() {
  FileDescriptor made(::epoll_create1(EPOLL_CLOEXEC));
  if (!made.valid()) throw std::bad_alloc();
  return made;
}

}  // namespace

DescriptorSet::DescriptorSet() : epoll_(make_epoll()) {}

void DescriptorSet::watch(int descriptor, short events) {
  const auto known = std::ranges::find(watched_, descriptor, &Watched::descriptor);
  const bool is_new = known == watched_.end();
  if (!is_new && known->events == events) return;
  if (is_new) watched_.reserve(watched_.size() + 1);
  epoll_event wanted{};
  wanted.events =
      static_cast<unsigned short>(events);  // those of poll(2) and epoll(7) are the same
  wanted.data.fd = descriptor;
  const int action = is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (::epoll_ctl(epoll_.get(), action, descriptor, &wanted) != 0) throw std::bad_alloc();
  if (is_new) {
    watched_.push_back({descriptor, events});
  } else {
    known->events = events;
  }
  changed();
}

void DescriptorSet::changed() noexcept {
  ++changes_;
  forget_events();
}

DescriptorSet::Ready DescriptorSet::polled() const noexcept {
  if (watched_.size() != 1) return {descriptor(), POLLIN};
  return {watched_.front().descriptor, watched_.front().events};
}

void DescriptorSet::know_events(short events) noexcept {
  if (watched_.size() == 1) known_ = events;
}

void DescriptorSet::forget(int descriptor) noexcept {
  const auto is_it = [&](const Watched& one) { return one.descriptor == descriptor; };
  if (std::erase_if(watched_, is_it) == 0) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
  changed();
}

std::vector<DescriptorSet::Ready> DescriptorSet::ready() const {
  std::array<epoll_event, 16> events{};
  std::vector<Ready> all;
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int index = 0; index < count; ++index) {
    const epoll_event& event = events[static_cast<std::size_t>(index)];
    all.push_back({event.data.fd, static_cast<short>(event.events)});
  }
  return all;
}

short DescriptorSet::ready(int descriptor) const {
  if (known_ && descriptor == watched_.front().descriptor) return *known_;
  for (const Ready& one : ready()) {
    if (one.descriptor == descriptor) return one.events;
  }
  return 0;
}

void DescriptorSet::renew() {
  watched_.clear();
  epoll_ = make_epoll();
  changed();
}

}  // namespace latchkey::inline v1::detail::stores
