// The releases that one server of a quorum has not confirmed.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>

#include <latchkey/clock.hpp>

#include "quorum/operation.hpp"

namespace latchkey::inline v1::detail::quorum {

/// Releases to be sent again, with one timer for all of them: each second one is sent, to find out
/// whether the server replies again. Each reply then brings two more, so that a server that is back
/// gets them in a few round trips, and one that is not costs nothing. Needs no memory.
class ReleaseBacklog {
 public:
  /// When the next release is to be sent if the server does not reply before.
  [[nodiscard]] Clock::time_point due() const noexcept { return due_; }
  [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }

  void add(SubRequest& release, Clock::time_point now) noexcept {
    queue_.push_back(release);
    due_ = std::min(due_, later(now, pause));
  }
  /// A release that could not be sent for lack of memory.
  void add_unsent(SubRequest& release, Clock::time_point now) noexcept {
    queue_.push_front(release);
    due_ = now;
  }
  /// Takes out the oldest release. There must be one.
  SubRequest& take(Clock::time_point now) noexcept {
    SubRequest& oldest = queue_.pop_front();
    due_ = queue_.empty() ? Clock::never() : later(now, pause);
    return oldest;
  }
  /// Calls `end(release)` for each one whose lease is over.
  template <class End>
  void drop_expired(Clock::time_point now, End&& end) noexcept {
    SubRequestQueue all = queue_;
    queue_.clear();
    while (!all.empty()) {
      SubRequest& release = all.pop_front();
      now >= release.repeat_until ? end(release) : queue_.push_back(release);
    }
    if (queue_.empty()) due_ = Clock::never();
  }
  /// The server is back: the next release is due at once.
  void send_soon(Clock::time_point now) noexcept {
    if (!queue_.empty()) due_ = now;
  }
  void clear() noexcept {
    queue_.clear();
    due_ = Clock::never();
  }

 private:
  static constexpr std::chrono::seconds pause{1};

  SubRequestQueue queue_;
  Clock::time_point due_ = Clock::never();
};

}  // namespace latchkey::inline v1::detail::quorum
