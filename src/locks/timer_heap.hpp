// Which coordinator of a shard is due next.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <latchkey/clock.hpp>

#include "locks/coordinator.hpp"

namespace latchkey::detail {

/// A binary heap of coordinators by `due_at`, each of which knows its place in `due_index` (from 1;
/// 0: not in the heap), so that one is moved or removed without being searched for.
class TimerHeap {
 public:
  [[nodiscard]] Clock::time_point next() const noexcept {
    return heap_.empty() ? Clock::never() : heap_.front()->due_at;
  }
  [[nodiscard]] Coordinator* first() const noexcept {
    return heap_.empty() ? nullptr : heap_.front();
  }

  /// `due` may be Clock::never(): out of the heap.
  void update(Coordinator& record, Clock::time_point due) {
    if (due == Clock::never()) return remove(record);
    const bool fresh = record.due_index == 0;
    if (fresh) {
      heap_.push_back(&record);
      record.due_index = heap_.size();
    }
    const bool earlier = fresh || due < record.due_at;
    record.due_at = due;
    if (earlier) {
      rise(record.due_index);
    } else {
      sink(record.due_index);
    }
  }

  void remove(Coordinator& record) noexcept {
    record.due_at = Clock::never();
    const std::size_t place = std::exchange(record.due_index, 0);
    if (place == 0) return;
    Coordinator* const last = heap_.back();
    heap_.pop_back();
    if (last == &record) return;
    put(place, last);
    rise(place);
    sink(last->due_index);
  }

  void forget_all() noexcept { heap_.clear(); }

 private:
  [[nodiscard]] Coordinator* at(std::size_t place) const noexcept { return heap_[place - 1]; }
  void put(std::size_t place, Coordinator* record) noexcept {
    heap_[place - 1] = record;
    record->due_index = place;
  }

  void rise(std::size_t place) noexcept {
    Coordinator* const record = at(place);
    for (; place > 1 && record->due_at < at(place / 2)->due_at; place /= 2) {
      put(place, at(place / 2));
    }
    put(place, record);
  }

  void sink(std::size_t place) noexcept {
    Coordinator* const record = at(place);
    for (std::size_t child; (child = 2 * place) <= heap_.size(); place = child) {
      if (child < heap_.size() && at(child + 1)->due_at < at(child)->due_at) ++child;
      if (record->due_at <= at(child)->due_at) break;
      put(place, at(child));
    }
    put(place, record);
  }

  std::vector<Coordinator*> heap_;
};

}  // namespace latchkey::detail
