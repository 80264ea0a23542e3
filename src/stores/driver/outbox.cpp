// What a store's client hands out, and to whom.
// SPDX-License-Identifier: BSL-1.0
#include "stores/driver/outbox.hpp"

#include <algorithm>

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

void Outbox::complete(Request& request, Sink& sink, Outcome&& outcome) {
  Delivery& delivery = deliveries_.emplace_back();
  delivery.sink = &sink;
  delivery.request = &request;
  delivery.outcome = std::move(outcome);
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
  Delivery& delivery = deliveries_.emplace_back();
  delivery.sink = &sink;
  delivery.kind = kind;
  delivery.key = key;
  delivery.id = id;
}

void Outbox::notify_granted(Sink& sink, std::string_view key, const HoldId& id, std::uint64_t place,
                            std::uint64_t token) {
  notify(sink, Notification::Kind::granted, key, id);
  deliveries_.back().place = place;
  deliveries_.back().token = token;
}

void Outbox::know(Sink& sink) {
  if (std::ranges::find(listeners_, &sink, &Listener::sink) != listeners_.end()) return;
  listeners_.push_back({&sink, reported_up_});
  tell(listeners_.back());
}

void Outbox::link(bool up, const std::string& why) {
  up_ = up;
  why_ = why;
  for (Listener& listener : listeners_) tell(listener);
}

void Outbox::tell(Listener& listener) {
  if (listener.told_up == up_) return;
  listener.told_up = up_;
  using Kind = Notification::Kind;
  notify(*listener.sink, up_ ? Kind::link_up : Kind::link_down, {});
  deliveries_.back().text = why_;
}

void Outbox::forget() noexcept {
  deliveries_.clear();
  listeners_.clear();
  up_ = false;
  reported_up_ = true;
}

}  // namespace latchkey::inline v1::detail::stores
