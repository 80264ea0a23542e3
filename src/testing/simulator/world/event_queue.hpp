// The future events of a simulation, in the order of their times.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

namespace latchkey::inline v1::sim {

/// A priority queue of events, earliest first. `Event` has the members `at`, its time, and `order`,
/// which the queue sets: events of the same time occur in the order in which they were added.
template <class Event>
class EventQueue {
 public:
  void add(Event event) {
    event.order = ++last_order_;
    queue_.push(std::move(event));
  }

  [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }

  Event take_first() {
    Event first = queue_.top();
    queue_.pop();
    return first;
  }

 private:
  struct IsLater {
    bool operator()(const Event& one, const Event& other) const noexcept {
      return one.at != other.at ? one.at > other.at : one.order > other.order;
    }
  };

  std::priority_queue<Event, std::vector<Event>, IsLater> queue_;
  std::uint64_t last_order_ = 0;
};

}  // namespace latchkey::inline v1::sim
