// When a batch of requests is sent.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <latchkey/clock.hpp>

namespace latchkey::inline v1::detail::stores {

/// Decides when the next batch of a connection is sent. A batch follows the one before it, and
/// takes about as long as the commit at its end. The callers of a batch that has ended usually
/// submit at once again, and one commit for all of them costs as much as one for the first. So the
/// next batch waits for as many requests as the last one had, and for those that waited then; but
/// not longer than half of the last commit, nor than `longest_delay`. A caller that is alone never
/// waits. One thread at a time.
class BatchPacing {
 public:
  using TimePoint = Clock::time_point;

  /// A batch of `completed` requests, sent at `sent`, has ended while `waiting` others wait.
  /// `committed`: the server has waited for its disk, as it will for the next one.
  void ended(std::size_t completed, std::size_t waiting, TimePoint sent, TimePoint now,
             bool committed) noexcept {
    if (committed) commit_took_ = now - sent;
    expected_ = completed + waiting;
    due_ = now + std::min<Clock::duration>(commit_took_ / 2, longest_delay);
  }

  [[nodiscard]] bool is_ready(std::size_t waiting, TimePoint now) const noexcept {
    return waiting > 0 && (waiting >= expected_ || now >= due_);
  }
  /// When the requests that wait are sent, however few they are.
  [[nodiscard]] TimePoint due() const noexcept { return due_; }

 private:
  static constexpr std::chrono::milliseconds longest_delay{1};

  Clock::duration commit_took_{};
  std::size_t expected_ = 1;
  TimePoint due_{};
};

}  // namespace latchkey::inline v1::detail::stores
