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
class Dormitory {
 public:
  using Beds = std::uint32_t;
  using Word = std::atomic<std::uint32_t>;

  /// A bed for one thread: one bit. Under the connection's mutex.
  [[nodiscard]] Beds assign() noexcept {
    beds_given_ = beds_given_ << 1 | beds_given_ >> 31;
    return beds_given_;
  }

  /// Returns once `reasons` is not 0, at the latest at `until`.
  void sleep(const Word& reasons, Beds bed, const Clock& clock, Clock::time_point until) noexcept;

  /// After the sleepers' reasons were set: what is left to do, once no mutex is held that they
  /// need. Nothing, where the calling thread collects.
  [[nodiscard]] Parker::Wake wake(Beds beds) noexcept;

  /// While it lives, what the calling thread would wake is put off, until it wakes all of them.
  class Collection {
   public:
    explicit Collection(Dormitory& where) noexcept;
    Collection(const Collection&) = delete;
    Collection& operator=(const Collection&) = delete;
    ~Collection() { wake_all(); }

    [[nodiscard]] bool empty() const noexcept { return beds_ == 0; }
    /// Nothing is collected any more.
    void wake_all() noexcept;

   private:
    friend class Dormitory;
    Dormitory& where_;
    Beds beds_ = 0;
    Collection* const outer_;
    bool over_ = false;
  };

 private:
  Word word_ = 0;  ///< changes with every wake-up, so that none is slept through
  Beds beds_given_ = 1;
};

}  // namespace latchkey::detail::redis
