// The events and stops that the notifier thread has yet to deliver.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <stop_token>
#include <vector>

#include <latchkey/listener.hpp>

namespace latchkey::inline v1::detail {

/// Events for a listener and stops to be requested, in the order in which they came. Routine events
/// beyond `most_events` are dropped and counted; losses, errors and stops are not. The number of
/// dropped events is itself an event, which takes their place. Not thread-safe.
class EventQueue {
 public:
  static constexpr std::size_t most_events = 4096;

  struct Item {
    Event event{};
    std::stop_source stop{std::nostopstate};
    bool droppable = false;

    [[nodiscard]] bool is_stop() const noexcept { return stop.stop_possible(); }
  };

  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::size_t size() const noexcept;
  /// Something is in the queue itself; `size` also counts stops that no memory was left for.
  [[nodiscard]] bool has_items() const noexcept { return !items_.empty(); }

  /// Adds the event. False: it was dropped.
  bool push(Event&& event) noexcept;
  void push(std::stop_source&& stop) noexcept;
  /// Counts events that could not be made for want of memory.
  void count_unmade(std::size_t events) noexcept { unmade_ += events; }
  /// Puts the event `dropped` in the place of the events that were not kept, if there are any.
  void note_dropped() noexcept;

  /// Takes the oldest off the queue, which is not empty.
  [[nodiscard]] Item take() noexcept;
  void clear() noexcept {
    items_.clear();
    droppable_ = 0;
  }

 private:
  void drop(const Event& event) noexcept;
  [[nodiscard]] const char* why_dropped() const noexcept;

  static constexpr std::size_t spares = 64;
  static std::array<std::stop_source, spares> no_stops();

  std::deque<Item> items_;
  /// Stops that no item could be made for.
  std::array<std::stop_source, spares> spare_stops_ = no_stops();
  std::size_t droppable_ = 0;          ///< routine events in `items_`
  std::uint64_t dropped_ = 0;          ///< the queue was full
  std::uint64_t unmade_ = 0;           ///< there was no memory
  std::vector<Event::Missed> missed_;  ///< counts `dropped_` by origin and kind
};

}  // namespace latchkey::inline v1::detail
