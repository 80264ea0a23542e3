// Requests that a backend receives together.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>

namespace latchkey::tests {

/// One call of `submit` for several requests. One thread.
class RequestGroup final : public Sink {
 public:
  void add(Verb verb, const std::string& key, LockType type, const HoldId& id,
           std::chrono::milliseconds lease = {}) {
    Item& item = items_.emplace_back();
    item.key = key;
    item.request.verb = verb;
    item.request.key = item.key;
    item.request.type = type;
    item.request.id = id;
    item.request.lease = lease;
    item.request.context = &item;
  }

  /// Submits all, and drives until each is completed. Returns the outcomes in the order of `add`.
  std::vector<Outcome> send(Backend& backend) {
    std::vector<Request*> requests;
    for (Item& item : items_) {
      item.request.sent = Clock::system().now();
      requests.push_back(&item.request);
    }
    left_ = items_.size();
    backend.submit(requests, *this);
    while (left_ > 0) {
      backend.drive(Parker::mine(), later(Clock::system().now(), std::chrono::seconds(10)));
    }
    std::vector<Outcome> outcomes;
    for (Item& item : items_) outcomes.push_back(std::move(item.outcome));
    items_.clear();
    return outcomes;
  }

 private:
  struct Item {
    std::string key;
    Request request;
    Outcome outcome;
  };

  void completed(Request& request, Outcome&& outcome) noexcept override {
    static_cast<Item*>(request.context)->outcome = std::move(outcome);
    --left_;
  }
  void notified(const Notification& /*notification*/) noexcept override {}

  std::deque<Item> items_;  // their addresses stay
  std::size_t left_ = 0;
};

/// The kinds of the outcomes.
inline std::vector<Outcome::Kind> kinds_of(const std::vector<Outcome>& outcomes) {
  std::vector<Outcome::Kind> kinds;
  for (const Outcome& each : outcomes) kinds.push_back(each.kind);
  return kinds;
}

}  // namespace latchkey::tests
