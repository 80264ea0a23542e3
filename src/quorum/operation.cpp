// One request and its sub-requests to several servers.
// SPDX-License-Identifier: BSL-1.0
#include "quorum/operation.hpp"

#include <utility>

#include "backend/verbs.hpp"

namespace latchkey::inline v1::detail::quorum {

Operation::Operation(Verb what, std::string_view its_key, std::size_t servers)
    : verb(what),
      key(its_key),
      ballot(what, servers),
      sub_requests(servers),
      undo(is_release(what) ? 0 : servers) {}

void SubRequestQueue::push_back(SubRequest& sub_request) noexcept {
  sub_request.next_in_queue = nullptr;
  (last_ == nullptr ? first_ : last_->next_in_queue) = &sub_request;
  last_ = &sub_request;
}

void SubRequestQueue::push_front(SubRequest& sub_request) noexcept {
  sub_request.next_in_queue = std::exchange(first_, &sub_request);
  if (last_ == nullptr) last_ = &sub_request;
}

SubRequest& SubRequestQueue::pop_front() noexcept {
  SubRequest& popped = *std::exchange(first_, first_->next_in_queue);
  if (first_ == nullptr) last_ = nullptr;
  return popped;
}

std::size_t SubRequestQueue::take_for_one_server(std::span<Request*> together) noexcept {
  constexpr std::size_t through_gate = 3;
  const std::size_t server = first_->server;
  std::size_t count = 0;
  bool full = false;
  SubRequestQueue others;
  while (!empty()) {
    SubRequest& next = pop_front();
    if (next.server != server) {
      others.push_back(next);
      continue;
    }
    const bool enters_gate = next.part == SubRequest::Part::enters_gate;
    full = full || count + (enters_gate ? through_gate : 1) > together.size();
    if (full) {
      others.push_back(next);
    } else {
      together[count++] = &next;
    }
  }
  *this = others;
  return count;
}

}  // namespace latchkey::inline v1::detail::quorum
