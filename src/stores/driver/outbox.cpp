// The outcomes and notifications of a store's client, and the sinks that receive them.
// SPDX-License-Identifier: BSL-1.0
#include "stores/driver/outbox.hpp"

#include <algorithm>

#include "backend/connection/failure.hpp"

namespace latchkey::inline v1::detail::stores {

void Delivery::hand_over() noexcept {
  if (request != nullptr) return sink->completed(*request, std::move(outcome));
  Notification notification;
  notification.kind = kind;
  notification.key = key;
  notification.id = id;
  notification.place = place;
  notification.token = token;
  notification.text = text;
  sink->notified(notification);
}

// Lost requests come first: the news of the connection come after the outcomes.
std::size_t Outbox::take(std::span<Delivery> to) noexcept {
  std::size_t count = 0;
  for (; count < to.size() && !lost_.empty(); ++count) {
    const auto lost = lost_.begin();
    Delivery delivery;
    delivery.request = lost->first;
    delivery.sink = lost->second;
    delivery.outcome.reason = no_memory().text;
    to[count] = std::move(delivery);
    lost_.erase(lost);
  }
  for (; count < to.size() && first_ < deliveries_.size(); ++count) {
    to[count] = std::move(deliveries_[first_++]);
  }
  if (first_ == deliveries_.size()) {
    deliveries_.clear();
    first_ = 0;
  }
  return count;
}

void Outbox::begin(std::span<Request* const> requests, Sink& sink) {
  make_room(requests.size());
  std::size_t begun = 0;
  try {
    for (; begun < requests.size(); ++begun) under_way_.emplace(requests[begun], &sink);
  } catch (...) {
    withdraw(requests.first(begun));
    throw;
  }
}

void Outbox::withdraw(std::span<Request* const> requests) noexcept {
  for (Request* const request : requests) under_way_.erase(request);
}

void Outbox::lose_all() noexcept {
  lost_.merge(under_way_);
  up_ = false;
  why_ = no_memory().text;
  for (Listener& listener : listeners_) tell(listener, no_memory().text);
}

void Outbox::make_room(std::size_t count) {
  if (first_ > deliveries_.size() / 2) {
    deliveries_.erase(deliveries_.begin(),
                      deliveries_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  const std::size_t needed = deliveries_.size() + under_way_.size() + listeners_.size() + count;
  if (needed > deliveries_.capacity()) {
    deliveries_.reserve(std::max(needed, 2 * deliveries_.capacity()));
  }
}

void Outbox::push(Delivery&& delivery) {
  make_room(1);
  deliveries_.push_back(std::move(delivery));
}

void Outbox::complete(Request& request, Sink& sink, Outcome&& outcome) {
  Delivery& delivery = deliveries_.emplace_back();
  delivery.sink = &sink;
  delivery.request = &request;
  delivery.outcome = std::move(outcome);
  under_way_.erase(&request);
}

void Outbox::complete(Request& request, Sink& sink, Outcome::Kind kind) {
  Outcome outcome;
  outcome.kind = kind;
  complete(request, sink, std::move(outcome));
}

void Outbox::complete_unknown(Request& request, Sink& sink, const std::string& why,
                              bool never_ran) {
  Outcome outcome;
  outcome.kind = Outcome::Kind::unknown;
  outcome.reason = why;
  outcome.never_ran = never_ran;
  complete(request, sink, std::move(outcome));
}

void Outbox::refuse(Request& request, Sink& sink, std::string why) {
  Outcome outcome;
  outcome.kind = Outcome::Kind::refused;
  outcome.reason = std::move(why);
  complete(request, sink, std::move(outcome));
}

void Outbox::notify(Sink& sink, Notification::Kind kind, std::string_view key, const HoldId& id) {
  Delivery delivery;
  delivery.sink = &sink;
  delivery.kind = kind;
  delivery.key = key;
  delivery.id = id;
  push(std::move(delivery));
}

void Outbox::notify_granted(Sink& sink, std::string_view key, const HoldId& id, std::uint64_t place,
                            std::uint64_t token) {
  Delivery delivery;
  delivery.sink = &sink;
  delivery.kind = Notification::Kind::granted;
  delivery.key = key;
  delivery.id = id;
  delivery.place = place;
  delivery.token = token;
  push(std::move(delivery));
}

void Outbox::notify_all(Notification::Kind kind, std::string_view key, const std::string& text) {
  for (const Listener& listener : listeners_) {
    Delivery delivery;
    delivery.sink = listener.sink;
    delivery.kind = kind;
    delivery.key = key;
    delivery.text = text;
    push(std::move(delivery));
  }
}

void Outbox::know(Sink& sink) {
  if (std::ranges::find(listeners_, &sink, &Listener::sink) != listeners_.end()) return;
  make_room(2);  // one more listener, and what it is told now
  std::string why = why_;
  listeners_.push_back({&sink, reported_up_});
  tell(listeners_.back(), std::move(why));
}

void Outbox::link(bool up, const std::string& why) {
  make_room(listeners_.size());
  why_ = why;
  up_ = up;
  for (Listener& listener : listeners_) tell(listener, why);
}

bool Outbox::warn() {
  make_room(listeners_.size());
  for (const Listener& listener : listeners_) {
    notify(*listener.sink, Notification::Kind::warning, {});
  }
  return !listeners_.empty();
}

// The caller has made room for the delivery.
void Outbox::tell(Listener& listener, std::string why) {
  if (listener.told_up == up_) return;
  Delivery& delivery = deliveries_.emplace_back();
  delivery.sink = listener.sink;
  delivery.kind = up_ ? Notification::Kind::link_up : Notification::Kind::link_down;
  delivery.text = std::move(why);
  listener.told_up = up_;
}

void Outbox::forget() noexcept {
  deliveries_.clear();
  first_ = 0;
  under_way_.clear();
  lost_.clear();
  listeners_.clear();
  up_ = false;
  reported_up_ = true;
}

}  // namespace latchkey::inline v1::detail::stores
