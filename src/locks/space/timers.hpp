// Coordinators by the time at which they are due.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <latchkey/clock.hpp>

#include "locks/coordinator/coordinator.hpp"

namespace latchkey::inline v1::detail {

/// The coordinators that are due some time, in two places: a list of the fresh ones in no order,
/// and a binary heap by `due_at` into which the timer thread sorts them when it comes by. So a lock
/// that is taken and released long before anything is due costs no sorting. In the heap a
/// coordinator knows its place by `due_index` (from 1; 0: not there), in the list by `due_place`.
class Timers {
 public:
  /// The earliest due time in the heap; Clock::never(): the heap is empty.
  [[nodiscard]] Clock::time_point next() const noexcept {
    return heap_.empty() ? Clock::never() : heap_.front()->due_at;
  }
  [[nodiscard]] Coordinator* first() const noexcept {
    return heap_.empty() ? nullptr : heap_.front();
  }

  /// Sets the due time of `record`. Clock::never() takes it out of the list and the heap.
  void update(Coordinator& record, Clock::time_point due) noexcept {
    if (due == Clock::never()) return remove(record);
    const bool earlier = due < record.due_at;
    record.due_at = due;
    if (record.due_index != 0) {
      earlier ? rise(record.due_index) : sink(record.due_index);
    } else if (record.due_place == nullptr) {
      record.due_next = fresh_;
      if (fresh_ != nullptr) fresh_->due_place = &record.due_next;
      fresh_ = &record;
      record.due_place = &fresh_;
    }
  }

  void remove(Coordinator& record) noexcept {
    record.due_at = Clock::never();
    if (record.due_place != nullptr) {
      unlink(record);
    } else if (record.due_index != 0) {
      take_out(record);
    }
  }

  /// Moves all from the list into the heap. Throws std::bad_alloc.
  void sort() {
    while (fresh_ != nullptr) {
      heap_.push_back(fresh_);  // may throw: what is not sorted yet stays in the list
      fresh_->due_index = heap_.size();
      unlink(*fresh_);
      rise(heap_.size());
    }
  }

  void forget_all() noexcept {
    heap_.clear();
    fresh_ = nullptr;
  }

 private:
  static void unlink(Coordinator& record) noexcept {
    if (record.due_next != nullptr) record.due_next->due_place = record.due_place;
    *std::exchange(record.due_place, nullptr) = record.due_next;
  }

  void take_out(Coordinator& record) noexcept {
    const std::size_t place = std::exchange(record.due_index, 0);
    Coordinator* const last = heap_.back();
    heap_.pop_back();
    if (last == &record) return;
    put(place, last);
    rise(place);
    sink(last->due_index);
  }

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

  Coordinator* fresh_ = nullptr;
  std::vector<Coordinator*> heap_;
};

}  // namespace latchkey::inline v1::detail
