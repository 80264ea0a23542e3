// Requests that no node of a cluster can serve now.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <utility>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

#include "redis/session/delivery.hpp"

namespace latchkey::inline v1::detail::redis {

/// They are routed again after a pause that grows with their age: while a cluster is down, each
/// hold has a request here. One pass over all of them takes out those that are due. Pure; one
/// thread at a time.
class DelayedRequests {
 public:
  using TimePoint = Clock::time_point;
  struct Delayed {
    QueuedRequest request;
    TimePoint at;     ///< when it is routed again
    std::string why;  ///< the reason if its deadline passes first
  };

  [[nodiscard]] std::size_t size() const noexcept { return acquires_.size() + others_.size(); }
  /// When the first of them is to be routed again.
  [[nodiscard]] TimePoint due() const noexcept { return due_; }

  /// `submitted_at` is when the request came. Throws std::bad_alloc.
  void add(const QueuedRequest& request, TimePoint submitted_at, TimePoint now, std::string why) {
    const auto pause = std::clamp<Clock::duration>(now - submitted_at, least_pause, most_pause);
    const TimePoint at = std::min(later(now, pause), request.deadline);
    list_of(*request.request).push_back({request, at, std::move(why)});
    due_ = std::min(due_, at);
  }
  /// The slot map has changed: all of them are due at once.
  void retry_all(TimePoint now) noexcept {
    for (std::list<Delayed>* const list : {&acquires_, &others_}) {
      for (Delayed& each : *list) each.at = now;
    }
    if (size() > 0) due_ = now;
  }
  /// Takes out the acquires for which `drops(request)` holds, and calls `end(delayed)` for each.
  template <class Drops, class End>
  void drop_acquires(Drops&& drops, End&& end) {
    std::erase_if(acquires_, [&](Delayed& each) {
      if (!drops(*each.request.request)) return false;
      end(each);
      return true;
    });
  }
  /// Takes out what is due and calls `visit(delayed)` for each, which may add and drop others. An
  /// acquire comes before its release.
  template <class Visit>
  void take_due(TimePoint now, Visit&& visit) {
    if (now < due_) return;
    due_ = Clock::never();
    std::list<Delayed> taken;
    for (std::list<Delayed>* const list : {&acquires_, &others_}) {
      for (auto next = list->begin(); next != list->end();) {
        const auto each = next++;
        if (each->at <= now) {
          taken.splice(taken.end(), *list, each);
        } else {
          due_ = std::min(due_, each->at);
        }
      }
    }
    for (Delayed& each : taken) visit(each);
  }
  void clear() noexcept {
    acquires_.clear();
    others_.clear();
    due_ = Clock::never();
  }

 private:
  static constexpr std::chrono::milliseconds least_pause{20}, most_pause{250};

  [[nodiscard]] std::list<Delayed>& list_of(const Request& request) noexcept {
    const bool acquires = request.verb == Verb::acquire || request.verb == Verb::acquire_all;
    return acquires ? acquires_ : others_;
  }

  std::list<Delayed> acquires_, others_;
  TimePoint due_ = Clock::never();
};

}  // namespace latchkey::inline v1::detail::redis
