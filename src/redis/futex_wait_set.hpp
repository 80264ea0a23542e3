// Where the drivers of one connection sleep, so that many can be woken at once.
#pragma once

#include <atomic>
#include <cstdint>

#include <latchkey/clock.hpp>
#include <latchkey/parker.hpp>

namespace latchkey::detail::redis {

/// One futex for all, and a bit for each: a bunch of answers wakes its threads by one system call.
/// Woken one by one, each would take the processor from the thread that wakes, which then comes
/// back for the next: two changes of threads for each, instead of one.
///
/// With more than 32 sleepers some share a bit, and wake for one another now and then.
class FutexWaitSet {
 public:
  using Slots = std::uint32_t;
  using Word = std::atomic<std::uint32_t>;

  /// A bed for one thread: one bit. Under the connection's mutex.
  [[nodiscard]] Slots assign() noexcept {
    last_slot_ = last_slot_ << 1 | last_slot_ >> 31;
    return last_slot_;
  }

  /// Returns once `reasons` is not 0, at the latest at `until`.
  void sleep(const Word& reasons, Slots slot, const Clock& clock, Clock::time_point until) noexcept;

  /// After the sleepers' reasons were set: what is left to do, once no mutex is held that they
  /// need. Nothing, where the calling thread collects.
  [[nodiscard]] Parker::Wake wake(Slots slots) noexcept;

  /// While it lives, what the calling thread would wake is put off, until it wakes all of them.
  class WakeBatch {
   public:
    explicit WakeBatch(FutexWaitSet& where) noexcept;
    WakeBatch(const WakeBatch&) = delete;
    WakeBatch& operator=(const WakeBatch&) = delete;
    ~WakeBatch() { wake_all(); }

    [[nodiscard]] bool empty() const noexcept { return slots_ == 0; }
    /// Nothing is collected any more.
    void wake_all() noexcept;

   private:
    friend class FutexWaitSet;
    FutexWaitSet& where_;
    Slots slots_ = 0;
    WakeBatch* const outer_;
    bool over_ = false;
  };

 private:
  Word word_ = 0;  ///< changes with every wake-up, so that none is slept through
  Slots last_slot_ = 1;
};

}  // namespace latchkey::detail::redis
