// When a batch of requests is sent.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <latchkey/clock.hpp>

namespace latchkey::inline v1::detail::stores {

/// For a connection on which one batch follows another, and a batch takes about as long as the
/// commit at its end. The callers of a batch that has ended usually submit at once again, and one
/// commit for all costs as much as one for the first of them: the next batch waits for as many
/// requests, but not longer than half of what the last commit took. A caller that is alone never
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
  /// When what waits is sent even if nothing is added to it.
  [[nodiscard]] TimePoint due() const noexcept { return due_; }

 private:
  static constexpr std::chrono::milliseconds longest_delay{1};

  Clock::duration commit_took_{};
  std::size_t expected_ = 1;
  TimePoint due_{};
};

}  // namespace latchkey::inline v1::detail::stores
