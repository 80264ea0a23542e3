// An event loop that waits for a DrivenBackend.
// SPDX-License-Identifier: BSL-1.0
#include "stores/driver/driven_loop.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <chrono>
#include <new>

#include "core/sleep_slice.hpp"

namespace latchkey::inline v1::detail::stores {

DrivenBackend::EventLoop::EventLoop(DrivenBackend& backend)
    : backend_(backend),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      timer_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!epoll_.valid() || !timer_.valid()) throw std::bad_alloc();
  watch(timer_.get());
  watch(wake_.descriptor());
}

void DrivenBackend::EventLoop::watch(int descriptor) noexcept {
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  wanted.data.fd = descriptor;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &wanted);
}

void DrivenBackend::EventLoop::join() {
  const ScopedLock lock(backend_.mutex_);
  if (joined_) return;
  backend_.loops_.push_back(this);
  joined_ = true;
  watched_ = backend_.client_->descriptors().descriptor();
  watch(watched_);
  rest();
}

void DrivenBackend::EventLoop::drive() {
  const ScopedLock lock(backend_.mutex_);
  if (!joined_) return;
  wake_.clear();
  std::uint64_t expirations = 0;
  if (::read(timer_.get(), &expirations, sizeof expirations) > 0) timer_due_ = Clock::never();
  backend_.work();
  rest();
  backend_.wake_driver();  // a thread that polls may have to look earlier
}

void DrivenBackend::EventLoop::rest() {
  if (!backend_.client_->outbox().empty() && !backend_.delivering_) return wake();
  const Clock::time_point due = backend_.client_->due();
  if (due >= timer_due_) return;
  timer_due_ = due;
  const Clock::duration left =
      std::max<Clock::duration>(sleep_slice(backend_.clock_, due), std::chrono::nanoseconds(1));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  const itimerspec at{.it_interval = {},
                      .it_value = {.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()}};
  ::timerfd_settime(timer_.get(), 0, &at, nullptr);
}

void DrivenBackend::EventLoop::leave() noexcept {
  const ScopedLock lock(backend_.mutex_);
  if (!joined_) return;
  joined_ = false;
  std::erase(backend_.loops_, this);
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, watched_, nullptr);
  if (!backend_.led_) backend_.followers_.wake_one();
}

}  // namespace latchkey::inline v1::detail::stores
