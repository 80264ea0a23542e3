// The calls of one process that wait for one key.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>

#include "locks/coordinator/call.hpp"
#include "locks/coordinator/intrusive_list.hpp"
#include "locks/coordinator/owner_index.hpp"

namespace latchkey::inline v1::detail {

/// Two queues. One has the calls of all types but FAIR: only its first call sends requests and, if
/// that is a READ, the READs right behind it. The other has the FAIR calls: each sends requests,
/// because the backend keeps their order.
class WaitQueues {
 public:
  [[nodiscard]] bool empty() const noexcept { return queue_.empty() && fair_.empty(); }
  /// The first of the calls that are not FAIR; null: there are none.
  [[nodiscard]] Call* front() const noexcept { return queue_.first(); }
  /// The last of the calls that are not FAIR; null: there are none.
  [[nodiscard]] Call* back() const noexcept { return queue_.last(); }
  /// The first of the calls that are not FAIR that has sent no request; null: all have.
  [[nodiscard]] Call* next_to_start() const noexcept { return next_to_start_; }
  [[nodiscard]] Call* first_of_owner(Owner owner) const noexcept { return waiting_.first(owner); }
  /// Whether the front has a claim, and so talks to the backend.
  [[nodiscard]] bool front_has_started() const noexcept {
    return front() != nullptr && front()->hold != nullptr;
  }

  void push_back(Call& call) noexcept {
    call.list = call.type == LockType::FAIR ? &fair_ : &queue_;
    call.list->push_back(call);
    waiting_.insert(call);
    if (call.list == &queue_ && next_to_start_ == nullptr) next_to_start_ = &call;
  }
  /// `call` has a claim, and sends its first request.
  void started(const Call& call) noexcept {
    if (&call == next_to_start_) next_to_start_ = call.next;
  }
  /// Removes `call` from the list that it waits in, which may also be one of renewals.
  void remove(Call& call) noexcept {
    started(call);
    IntrusiveList<Call>* const list = std::exchange(call.list, nullptr);
    list->remove(call);
    if (list == &queue_ || list == &fair_) waiting_.erase(call);
  }

  /// Any waiting call; null: there are none.
  [[nodiscard]] Call* any() const noexcept {
    return queue_.first() != nullptr ? queue_.first() : fair_.first();
  }
  /// Visits each call; the visitor may remove any of them.
  template <class Visit>
  void for_each(Visit&& visit) {
    queue_.for_each(visit);
    fair_.for_each(visit);
  }

 private:
  IntrusiveList<Call> queue_;
  Call* next_to_start_ = nullptr;
  IntrusiveList<Call> fair_;
  OwnerIndex<Call> waiting_;  ///< the calls of both queues, by owner
};

}  // namespace latchkey::inline v1::detail
