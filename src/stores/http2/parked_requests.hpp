// Requests that wait for the connection to their store.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>

#include "stores/driver/outbox.hpp"
#include "stores/http2/http_connection.hpp"

namespace latchkey::inline v1::detail::http2 {

struct ParkedRequest {
  Request* request;
  Sink* sink;
  Clock::time_point submitted;
};

/// Requests in the order of their submission, which wait until the link is up, or give up.
class ParkedRequests {
 public:
  /// `link` outlives it.
  explicit ParkedRequests(const HttpConnection& link) noexcept : link_(link) {}

  /// Takes all, or none if it throws std::bad_alloc.
  void submit(std::span<Request* const> requests, Sink& sink, Clock::time_point now) {
    parked_.reserve(std::max(parked_.size() + requests.size(), least));
    for (Request* const request : requests) parked_.push_back({request, &sink, now});
  }
  /// `dispatch` may not submit.
  template <class Dispatch>
  void dispatch_all(Dispatch dispatch) {
    for (const ParkedRequest& one : parked_) dispatch(*one.request, *one.sink);
    parked_.clear();
  }
  /// Completes those that have waited for the link for too long.
  void give_up(stores::Outbox& outbox, Clock::time_point now) {
    if (link_.is_up()) return;
    std::erase_if(parked_, [&](const ParkedRequest& one) {
      if (link_.gives_up_at(one.submitted) > now) return false;
      const ConnectionFailure* const failure = link_.failure();
      const std::string why = failure == nullptr ? "no answer" : failure->text;
      if (failure != nullptr && failure->permanent) {
        outbox.refuse(*one.request, *one.sink, why);
      } else {
        outbox.complete_unknown(*one.request, *one.sink, why, true);
      }
      return true;
    });
  }
  /// When `give_up` has something to do.
  [[nodiscard]] Clock::time_point due() const noexcept {
    Clock::time_point first = Clock::never();
    if (link_.is_up()) return first;
    for (const ParkedRequest& one : parked_) {
      first = std::min(first, link_.gives_up_at(one.submitted));
    }
    return first;
  }
  void clear() noexcept { parked_.clear(); }

 private:
  static constexpr std::size_t least = 16;

  const HttpConnection& link_;
  std::vector<ParkedRequest> parked_;
};

}  // namespace latchkey::inline v1::detail::http2
