// Whether this process lets others take a key first.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <latchkey/clock.hpp>

namespace latchkey::inline v1::detail {

/// For how long nothing is kept idle after others wanted the key. Each recall that follows soon
/// after that time doubles it.
inline constexpr std::chrono::seconds first_recall_pause{1}, longest_recall_pause{16};

/// The knowledge of one process about the other processes that want a key. Without it the process
/// that releases would always win: its next attempt can be sent with the release, and the attempts
/// of others only after they were notified.
///
/// | stage    | meaning                                                      | next stages      |
/// |----------|--------------------------------------------------------------|------------------|
/// | off      | attempts are sent as they come                               | asking, yielding |
/// | asking   | a release is in flight, whose reply says whether others were | off, yielding    |
/// |          | notified: until then no attempt starts                       |                  |
/// | yielding | others were notified: attempts wait until `until`, or until  | off, asking      |
/// |          | the key is released again                                    |                  |
struct Yielding {
  enum class Stage : std::uint8_t { off, asking, yielding };
  Stage stage = Stage::off;
  /// In stage `yielding` no attempt starts before.
  Clock::time_point until{};
  /// Until then a release does not ask, because the last one found no others.
  Clock::time_point alone_until{};
  /// Until then a release asks whether others wait outside of the backend's process queue, as some
  /// did a moment ago.
  Clock::time_point others_until{};
  Clock::duration round_trip{};  ///< how long the reply to the last release took
  /// Until then a client of another library that held the key a moment ago counts as one that
  /// waits.
  Clock::time_point foreign_until{};
  /// Until then no hold is kept idle, because others wanted the key; zero: they did not. It is
  /// remembered for as long again.
  Clock::time_point recalled_until{};
  Clock::duration recall_pause{};

  [[nodiscard]] bool is_on(Clock::time_point now) const noexcept {
    return stage == Stage::yielding && now < until;
  }
  /// Whether nothing is known for which the record of the key is kept.
  [[nodiscard]] bool is_over() const noexcept {
    return stage == Stage::off && recalled_until == Clock::time_point{};
  }
  /// Something is forgotten then. It is later than `until`, so that a hot key does not set the
  /// timer anew with each release.
  [[nodiscard]] Clock::time_point kept_until() const noexcept {
    return std::min(yields_until(), recall_known_until());
  }
  void forget(Clock::time_point now) noexcept {
    if (now >= yields_until()) stage = Stage::off;
    if (now >= recall_known_until()) recalled_until = {};
  }
  /// Others take part in the key. `recall`: they wanted what was kept, or might have been.
  void note_others(Clock::time_point now, bool recall) noexcept {
    if (recalled_until == Clock::time_point{}) {
      recall_pause = first_recall_pause;
    } else if (recall && now >= recalled_until) {
      recall_pause = std::min<Clock::duration>(2 * recall_pause, longest_recall_pause);
    }
    recalled_until = later(now, recall_pause);
  }

 private:
  [[nodiscard]] Clock::time_point recall_known_until() const noexcept {
    const bool recalled = recalled_until != Clock::time_point{};
    return recalled ? later(recalled_until, recall_pause) : Clock::never();
  }
  [[nodiscard]] Clock::time_point yields_until() const noexcept {
    return stage == Stage::yielding ? later(until, std::chrono::seconds(1)) : Clock::never();
  }
};

}  // namespace latchkey::inline v1::detail
