// Decides whether a thread spins before it sleeps.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <latchkey/clock.hpp>

namespace latchkey::inline v1::detail::redis {

/// The waiting strategy of threads whose reply is under way. A nearby server answers sooner than a
/// thread falls asleep and is woken: on a virtual machine, waking an idle processor alone costs
/// more than the script of a lock. Such a thread *spins* first: it polls, yields the processor and
/// polls again. Threads that share a processor then alternate by one sched_yield each, which costs
/// half of a sleep and a wake-up. This class only keeps the account; its owner's mutex guards it.
///
/// Spinning for as long as a sleep costs is never much worse than sleeping at once (Karlin, Li,
/// Manasse, Owicki: Empirical studies of competitive spinning, 1991). The loss is bounded as well:
/// once spinning has cost more than it saved, nobody spins for a hundred times that long. Where
/// spinning saves nothing it therefore costs at most a hundredth of the time.
///
/// | situation                                            | what is charged                     |
/// |------------------------------------------------------|-------------------------------------|
/// | the server is far away: `max_spin` is over           | the yields that the thread made     |
/// | others need the processor: a yield took long         | the time beyond `max_spin`          |
/// | nobody needs the processor: a yield returned at once | nothing: one thread spins on, the   |
/// |                                                      | others sleep                        |
class AdaptiveSpin {
 public:
  using TimePoint = Clock::time_point;

  /// How long a thread spins, and how much longer it may take for each thread that spins.
  static constexpr auto max_spin = std::chrono::microseconds(100);
  static constexpr auto grace_per_thread = std::chrono::microseconds(20);
  /// A shorter yield let no other thread run: that would cost two context switches.
  static constexpr auto idle_yield = std::chrono::microseconds(2);
  /// The cost of a sleep and a wake-up, or a little less.
  static constexpr auto sleep_cost = std::chrono::microseconds(10);
  /// The largest credit: enough for a hiccup of the machine, and small enough to notice soon that
  /// spinning has stopped paying off.
  static constexpr auto max_credit = std::chrono::milliseconds(5);
  /// The largest charge: the machine or the process may have been suspended meanwhile.
  static constexpr auto max_charge = std::chrono::milliseconds(10);

  [[nodiscard]] bool should_spin(TimePoint now) const noexcept { return now >= retry_at_; }

  /// How one thread spun.
  struct Attempt {
    TimePoint begin, end;
    std::uint32_t yields;
    std::uint32_t spinning_threads;
  };
  /// The thread found its reply: it was spared the sleep.
  void record_success(const Attempt& attempt) noexcept {
    if (!charge_overrun(attempt)) {
      credit_ = std::min<Clock::duration>(credit_ + sleep_cost, max_credit);
    }
  }
  /// The thread goes to sleep. While it yielded others may have made progress.
  void record_failure(const Attempt& attempt) noexcept {
    if (charge_overrun(attempt)) return;
    charge(std::max(attempt.begin, attempt.end - attempt.yields * idle_yield), attempt.end);
  }

 private:
  bool charge_overrun(const Attempt& attempt) noexcept {
    const TimePoint limit = attempt.begin + max_spin + attempt.spinning_threads * grace_per_thread;
    if (attempt.end > limit) charge(limit, attempt.end);
    return attempt.end > limit;
  }

  // Time that several threads lose at once is charged once.
  void charge(TimePoint from, TimePoint to) noexcept {
    from = std::max({from, charged_until_, to - max_charge});
    if (from >= to) return;
    charged_until_ = to;
    credit_ -= to - from;
    if (credit_ >= Clock::duration::zero()) return;
    retry_at_ = std::max(retry_at_, later(charged_until_, -100 * credit_));
    credit_ = Clock::duration::zero();
  }

  Clock::duration credit_{};
  TimePoint charged_until_{};
  TimePoint retry_at_{};
};

}  // namespace latchkey::inline v1::detail::redis
