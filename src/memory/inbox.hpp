// Notifications that wait for delivery.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include <latchkey/backend.hpp>

#include "core/parked_threads.hpp"
#include "core/small_mutex.hpp"

namespace latchkey::inline v1::detail {

/// The notifications of one connection, and its parked drivers; a new notification wakes one of
/// them. Thread-safe. Notes are recycled: a steady state allocates nothing.
class Inbox {
 public:
  Inbox() = default;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  ~Inbox();

  /// The maximum number of pending notes. Beyond it, or if memory is exhausted, notifications are
  /// dropped and the sink of the last one gets link_up instead, which means that notifications may
  /// have been missed.
  static constexpr std::size_t most_notes = 4096;

  void put(Sink& sink, const Notification& notification) noexcept;

  /// Delivers all pending notes. Returns false if there were none.
  bool deliver() noexcept;

  [[nodiscard]] bool any() const noexcept { return waiting_.load(std::memory_order_relaxed) != 0; }

  void add(ParkedThreads::Waiter& driver) noexcept;
  void remove(ParkedThreads::Waiter& driver) noexcept;

  /// For the fork handler.
  [[nodiscard]] SmallMutex& mutex() noexcept { return mutex_; }
  /// For a forked child: drops notes and drivers.
  void drop_all() noexcept;

 private:
  /// A notification with a copy of its key.
  struct Note {
    std::string key;
    Notification::Kind kind;
    HoldId id;
    std::uint64_t place, token;
    Sink* sink;
    Note* next = nullptr;
  };

  Note* take_all() noexcept;
  void give_back(Note* first) noexcept;
  Note* spare_or_new() noexcept;

  SmallMutex mutex_;
  ParkedThreads parked_;   // all below: guarded by mutex_
  Note* first_ = nullptr;  // oldest first
  Note** end_ = &first_;
  Note* spare_ = nullptr;
  std::size_t spares_ = 0;
  Sink* missed_ = nullptr;                // the sink of the notification that was dropped last
  std::atomic<std::size_t> waiting_ = 0;  // those that were dropped count; written under mutex_
};

}  // namespace latchkey::inline v1::detail
