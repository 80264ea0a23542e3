// Notifications that wait for somebody to deliver them.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include <latchkey/backend.hpp>

#include "core/parked_threads.hpp"
#include "core/small_mutex.hpp"

namespace latchkey::detail {

/// The notifications of one connection, and its sleeping drivers, of which a new one wakes one.
/// Thread-safe. Notes are recycled: a steady state allocates nothing.
class Inbox {
 public:
  Inbox() = default;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  ~Inbox();

  /// Where more than this many wait, or the heap is exhausted, the rest is dropped and the sinks
  /// are told link_up instead: notifications may have been missed.
  static constexpr std::size_t most_notes = 4096;

  void put(Sink& sink, const Notification& notification) noexcept;

  /// Delivers all that is there. False: nothing was.
  bool deliver() noexcept;

  [[nodiscard]] bool any() const noexcept { return waiting_.load(std::memory_order_relaxed) != 0; }

  void add(ParkedThreads::Waiter& driver) noexcept;
  void remove(ParkedThreads::Waiter& driver) noexcept;

  /// For the fork's participant.
  [[nodiscard]] SmallMutex& mutex() noexcept { return mutex_; }
  /// In a forked child: forgets notes and drivers.
  void drop_all() noexcept;

 private:
  struct Note {
    std::string key;
    Notification::Kind kind;
    HoldId id;
    Sink* sink;
    Note* next = nullptr;
  };

  Note* take_all() noexcept;
  void give_back(Note* first) noexcept;
  Note* spare_or_new() noexcept;

  SmallMutex mutex_;
  ParkedThreads parked_;   // all below: guarded by mutex_
  Note* first_ = nullptr;  // in the order of their coming
  Note** end_ = &first_;
  Note* spare_ = nullptr;
  std::size_t spares_ = 0;
  Sink* missed_ = nullptr;                // whose notifications were dropped
  std::atomic<std::size_t> waiting_ = 0;  // written under mutex_
};

}  // namespace latchkey::detail
