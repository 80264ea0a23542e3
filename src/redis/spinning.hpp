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
/// Spinning for as long as a sleep costs is never much worse than sleeping at once (Karlin, Li,
/// Manasse, Owicki: Empirical studies of competitive spinning, 1991). What there is to lose is
/// bounded: an account is kept, and who has lost more than was saved before does not spin for a
/// hundred times that long. So no more than a hundredth of the time is lost where nothing is saved.
///
/// | where                                          | what happens                             |
/// |------------------------------------------------|------------------------------------------|
/// | the server is far away: the window is over     | the turns that the thread took are lost  |
/// | other threads need the processor: a long yield | the yield is lost                        |
/// | nobody needs it: a yield that took no time     | one thread spins on, others sleep        |
class Spinning {
 public:
  using TimePoint = Clock::time_point;

  /// How long a thread looks.
  static constexpr auto window = std::chrono::microseconds(100);
  /// A yield is short where it takes less: to let another thread have the processor costs two
  /// changes of threads.
  static constexpr auto alone = std::chrono::microseconds(2);
  /// A yield is long where it takes more than this, and so much for each thread that spins.
  static constexpr auto absence = std::chrono::milliseconds(1);
  static constexpr auto turn = std::chrono::microseconds(20);
  /// What a sleep and a wake-up would have cost, or a little less.
  static constexpr auto saving = std::chrono::microseconds(10);
  /// Of what was saved so much counts: enough for a hiccup of the machine's, and little enough that
  /// what was right for long and turns wrong is noticed.
  static constexpr auto most = std::chrono::milliseconds(5);

  [[nodiscard]] bool is_worth_it(TimePoint now) const noexcept { return now >= again_at_; }

  /// A thread is back from a yield. True: nobody else wanted the processor.
  bool yielded(TimePoint from, TimePoint to, std::uint32_t spinning) noexcept {
    if (to - from > absence + spinning * turn) lost(from, to);
    return to - from < alone;
  }

  /// A thread was spared the sleep.
  void found() noexcept { saved_ = std::min<Clock::duration>(saved_ + saving, most); }

  /// A thread goes to sleep. While it had yielded others may have got on.
  void gave_up(std::uint32_t turns, TimePoint from, TimePoint to) noexcept {
    lost(std::max(from, to - turns * alone), to);
  }

 private:
  // What several threads lose at a time is lost once.
  void lost(TimePoint from, TimePoint to) noexcept {
    from = std::max(from, lost_until_);
    lost_until_ = std::max(to, lost_until_);
    saved_ -= lost_until_ - std::min(from, lost_until_);
    if (saved_ >= Clock::duration::zero()) return;
    again_at_ = std::max(again_at_, later(lost_until_, -100 * saved_));
    saved_ = Clock::duration::zero();
  }

  Clock::duration saved_{};
  TimePoint lost_until_{};
  TimePoint again_at_{};
};

}  // namespace latchkey::detail::redis
