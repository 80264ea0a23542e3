// Whether to wait a moment before bytes are sent, so that more come along.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <latchkey/clock.hpp>

namespace latchkey::detail::redis {

/// Answers come in bunches, and threads that were woken together ask again together: one system
/// call for all their commands costs a fraction of one each, here and at the server. So the first
/// that comes straight back lets the others run (a sched_yield) before it sends. Pure bookkeeping,
/// under a mutex of its owner's.
///
/// It is a guess: threads may have better things to do than to come back. Where the others brought
/// nothing, it is made less often, down to once in 1 024 times.
class Gathering {
 public:
  using TimePoint = Clock::time_point;

  /// Who comes later than this after a bunch has something else to do than to lock.
  static constexpr auto straight = std::chrono::microseconds(100);

  /// So many threads leave with their answers.
  void woken(std::uint32_t count, TimePoint now) noexcept {
    away_ += count;
    woken_at_ = now;
  }
  /// One asks again.
  void came_back() noexcept { away_ -= std::min<std::uint32_t>(away_, 1); }

  /// Shall the caller let others run, and then call `end`? Meanwhile it is false for everybody.
  [[nodiscard]] bool begin(TimePoint now) noexcept {
    if (going_on_ || away_ == 0) return false;
    if (now - woken_at_ > straight) {
      away_ = 0;
      return false;
    }
    if (pause_ > 0) {
      --pause_;
      return false;
    }
    going_on_ = true;
    return true;
  }
  /// Somebody sends soon, and what is appended until then goes along.
  [[nodiscard]] bool going_on() const noexcept { return going_on_; }
  void end(bool others_came) noexcept {
    going_on_ = false;
    if (others_came) {
      longest_pause_ = 0;
    } else {
      away_ = 0;
      longest_pause_ = std::min<std::uint32_t>(2 * longest_pause_ + 1, 1'023);
    }
    pause_ = longest_pause_;
  }

 private:
  TimePoint woken_at_{};
  std::uint32_t away_ = 0;
  std::uint32_t pause_ = 0;  ///< so many times it is not tried
  std::uint32_t longest_pause_ = 0;
  bool going_on_ = false;
};

}  // namespace latchkey::detail::redis
