// A thread's own place to sleep, from which any other thread can wake it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <latchkey/clock.hpp>

namespace latchkey {

/// One thread parks, any thread unparks; an unpark that comes first is remembered, so none is lost.
///
/// A backend that must sleep elsewhere (in poll(2), say) sets an Alarm for the time being: unpark
/// then rings it instead. Spurious returns do not happen, but a thread's parker serves whatever the
/// thread does next, so a return proves nothing: the caller looks at its own condition again.
class Parker {
 public:
  /// What is left to do to wake a thread: a FUTEX_WAKE_BITSET. Null: nothing.
  struct Wake {
    std::atomic<std::uint32_t>* word = nullptr;
    std::uint32_t bits = 0;

    /// The word may be gone by now: its address is all that is used of it, and whoever sleeps on
    /// what is there now looks again, as all who sleep on futexes do.
    void carry_out() const noexcept;
  };

  /// Wakes a thread that sleeps somewhere else than in its parker.
  class Alarm {
   public:
    /// With the parker's mutex held. A thread that sleeps in a futex is woken once that is let go,
    /// or it would run straight into it: so its word is returned.
    virtual Wake ring() noexcept = 0;

   protected:
    ~Alarm() = default;
  };

  Parker() = default;
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  /// Sleeps until an unpark or `deadline`; at once where an unpark came first. True: unparked.
  /// By the parking thread only.
  bool park_until(Clock& clock, Clock::time_point deadline);

  /// Ends the current or the next park. Any thread; never blocks for long.
  void unpark() noexcept;

  /// From now on unpark rings `alarm`; false: an unpark came first, do not sleep (it is consumed).
  /// By the parking thread only, which disarms before it uses the alarm's object for anything else.
  bool arm(Alarm& alarm) noexcept;

  /// Back to the parker's own sleep. True: the alarm was rung.
  bool disarm() noexcept;

  /// The calling thread's parker. It outlives the thread: it is used again, never destroyed, so
  /// a late unpark harms nobody. Throws std::bad_alloc where the thread has none yet.
  static Parker& mine();
  /// The same; null where the thread has none yet.
  static Parker* mine_if_any() noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable awake_;
  Alarm* alarm_ = nullptr;
  bool unparked_ = false;
};

}  // namespace latchkey
