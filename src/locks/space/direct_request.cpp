// Waiting for requests that no coordinator makes.
// SPDX-License-Identifier: BSL-1.0
#include "locks/space/direct_request.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "core/mutex.hpp"
#include "locks/space/shard_driver.hpp"

namespace latchkey::inline v1::detail {

void DirectRequests::prepare(DirectRequest& request) {
  request.context = nullptr;
  request.sent = clock_.now();
  request.parker = &Parker::mine();
}

void DirectRequests::run_all(std::span<const std::unique_ptr<DirectRequest>> requests) {
  std::vector<Request*> all;
  all.reserve(requests.size());
  for (const auto& request : requests) {
    prepare(*request);
    all.push_back(request.get());
  }
  driver_.submit(all);
  for (const auto& request : requests) {
    [[maybe_unused]] const bool answered = wait(*request, Clock::never());
  }
}

void DirectRequests::start(DirectRequest& request) {
  prepare(request);
  driver_.submit(request);
}

bool DirectRequests::run(std::unique_ptr<DirectRequest>& request, Clock::time_point until) {
  start(*request);
  if (wait(*request, until)) return true;
  abandon(std::move(request));
  return false;
}

bool DirectRequests::wait(const DirectRequest& request, Clock::time_point until) {
  while (!request.answered()) {
    if (until != Clock::never() && clock_.now() >= until) return false;
    driver_.drive(*request.parker, until);
  }
  return true;
}

void DirectRequests::abandon(std::unique_ptr<DirectRequest> request) noexcept {
  if (!give_up(request)) request->answered_late();
}

// The request enters the list before it is abandoned: the thread that answers it then takes it out.
bool DirectRequests::give_up(std::unique_ptr<DirectRequest>& request) noexcept {
  DirectRequest& abandoned = *request;
  {
    const ScopedLock lock(mutex_);
    abandoned.next_abandoned = abandoned_;
    if (abandoned_ != nullptr) abandoned_->previous_abandoned = &abandoned;
    abandoned_ = &abandoned;
  }
  if (abandoned.abandon()) {
    static_cast<void>(request.release());
    return true;
  }
  take_out(abandoned);
  return false;
}

void DirectRequests::completed(DirectRequest& request, Outcome&& outcome) noexcept {
  if (!request.answer(std::move(outcome))) finish(request);
}

// The outcome of an abandoned request has arrived.
void DirectRequests::finish(DirectRequest& abandoned) noexcept {
  take_out(abandoned);
  abandoned.answered_late();
  delete &abandoned;
}

void DirectRequests::take_out(DirectRequest& abandoned) noexcept {
  const ScopedLock lock(mutex_);
  DirectRequest* const previous = abandoned.previous_abandoned;
  DirectRequest* const next = abandoned.next_abandoned;
  (previous != nullptr ? previous->next_abandoned : abandoned_) = next;
  if (next != nullptr) next->previous_abandoned = previous;
}

void DirectRequests::drop_all() noexcept {
  const ScopedLock lock(mutex_);
  while (abandoned_ != nullptr) delete std::exchange(abandoned_, abandoned_->next_abandoned);
}

}  // namespace latchkey::inline v1::detail
