// Whether to look for an answer a while before sleeping.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <latchkey/clock.hpp>

namespace latchkey::detail::redis {

/// A server nearby answers sooner than a thread has gone to sleep and been woken: on a virtual
/// machine, waking an idle processor alone costs more than a lock's script. So a thread whose
/// answer is under way *spins* first: it yields the processor, looks, and yields again. Threads
/// that share a processor then take turns by a sched_yield each, which is half of what a sleep and
/// a wake-up cost. Pure bookkeeping, under a mutex of its owner's.
///
/// AdaptiveSpin for as long as a sleep costs is never much worse than sleeping at once (Karlin, Li,
/// Manasse, Owicki: Empirical studies of competitive spinning, 1991). What there is to lose is
/// bounded: an account is kept, and who has lost more than was saved before does not spin for a
/// hundred times that long. So no more than a hundredth of the time is lost where nothing is saved.
///
/// | where                                            | what happens                            |
/// |--------------------------------------------------|-----------------------------------------|
/// | the server is far away: the window is over       | the turns that the thread took are lost |
/// | others need the processor: a yield took long     | what is beyond the window is lost       |
/// | nobody needs the processor: a yield took no time | one thread spins on, others sleep       |
class AdaptiveSpin {
 public:
  using TimePoint = Clock::time_point;

  /// How long a thread looks, and how much later than that it may be back for each that spins.
  static constexpr auto window = std::chrono::microseconds(100);
  static constexpr auto turn = std::chrono::microseconds(20);
  /// A yield is short where it takes less: to let another thread have the processor costs two
  /// changes of threads.
  static constexpr auto alone = std::chrono::microseconds(2);
  /// What a sleep and a wake-up would have cost, or a little less.
  static constexpr auto saving = std::chrono::microseconds(10);
  /// Of what was saved so much counts: enough for a hiccup of the machine's, and little enough that
  /// what was right for long and turns wrong is noticed.
  static constexpr auto most = std::chrono::milliseconds(5);
  /// Nor does more of a loss count: the machine or the process may have been stopped meanwhile.
  static constexpr auto most_lost = std::chrono::milliseconds(10);

  [[nodiscard]] bool is_worth_it(TimePoint now) const noexcept { return now >= again_at_; }

  /// How one of so many threads spun.
  struct Spin {
    TimePoint from, to;
    std::uint32_t turns;
    std::uint32_t spinning;
  };
  /// It was spared the sleep.
  void found(const Spin& spin) noexcept {
    if (!lost_beyond(spin)) saved_ = std::min<Clock::duration>(saved_ + saving, most);
  }
  /// It goes to sleep. While it had yielded others may have got on.
  void gave_up(const Spin& spin) noexcept {
    if (!lost_beyond(spin)) lost(std::max(spin.from, spin.to - spin.turns * alone), spin.to);
  }

 private:
  bool lost_beyond(const Spin& spin) noexcept {
    const TimePoint end = spin.from + window + spin.spinning * turn;
    if (spin.to > end) lost(end, spin.to);
    return spin.to > end;
  }

  // What several threads lose at a time is lost once.
  void lost(TimePoint from, TimePoint to) noexcept {
    from = std::max({from, lost_until_, to - most_lost});
    if (from >= to) return;
    lost_until_ = to;
    saved_ -= to - from;
    if (saved_ >= Clock::duration::zero()) return;
    again_at_ = std::max(again_at_, later(lost_until_, -100 * saved_));
    saved_ = Clock::duration::zero();
  }

  Clock::duration saved_{};
  TimePoint lost_until_{};
  TimePoint again_at_{};
};

}  // namespace latchkey::detail::redis
