// The queue of a session's deliveries to sinks: outcomes of requests, and notifications.
// SPDX-License-Identifier: BSL-1.0
#include "redis/session/delivery_queue.hpp"

#include <algorithm>
#include <charconv>
#include <new>
#include <system_error>
#include <utility>

#include "redis/protocol/names.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

/// Without memory the text is empty: an event that says less is better than none.
void assign_if_possible(std::string& to, std::string_view from) noexcept {
  try {
    to = from;
  } catch (const std::bad_alloc&) {
    to.clear();
  }
}

/// The content of a message on the channel of a process, or of a FAIR waiter (process_queue.lua and
/// fair_queue.lua in lua/parts). A number 0: the first waiter shall try again.
struct Grant {
  std::uint64_t number = 0, place = 0, token = 0;
};

Grant read_grant(std::string_view message) noexcept {
  Grant grant;
  for (std::uint64_t* const field : {&grant.number, &grant.place, &grant.token}) {
    const auto [end, error] =
        std::from_chars(message.data(), message.data() + message.size(), *field);
    if (error != std::errc()) return {};
    message.remove_prefix(static_cast<std::size_t>(end - message.data()));
    if (!message.empty()) message.remove_prefix(1);
  }
  return grant;
}

/// The meaning of a message on the listener's channel, unless it is a grant.
Notification::Kind kind_of(const ChannelSubscriptions::Listener& listener) noexcept {
  if (listener.revocations) return Notification::Kind::revoked;
  return listener.latch ? Notification::Kind::counted : Notification::Kind::released;
}

bool is_about_connection(Notification::Kind kind) noexcept {
  return kind == Notification::Kind::link_down || kind == Notification::Kind::link_up;
}

}  // namespace

void Delivery::hand_over() noexcept {
  if (request != nullptr) {
    sink->completed(*request, std::move(outcome));
  } else {
    sink->notified({.kind = kind,
                    .key = key,
                    .id = id,
                    .place = place,
                    .token = token,
                    .server = server,
                    .text = text});
  }
}

// The loss of a connection is reported even if memory has run out, so its room is reserved here.
void DeliveryQueue::add_sink(Sink& sink) {
  if (std::ranges::find(sinks_, &sink) != sinks_.end()) return;
  notifications_.reserve(4 * (sinks_.size() + 1));
  sinks_.push_back(&sink);
}

void DeliveryQueue::complete(const Completion& completion, std::string_view text) noexcept {
  QueuedCompletion& queued = completions_.push();
  queued.completion = completion;
  assign_if_possible(queued.text, text);
}

void DeliveryQueue::notify_all(Notification::Kind kind, std::string_view text) noexcept {
  for (Sink* const sink : sinks_) {
    QueuedNotification& queued = notifications_.push();
    queued.sink = sink;
    queued.kind = kind;
    queued.key.clear();
    queued.id = {};
    assign_if_possible(queued.text, text);
  }
}

void DeliveryQueue::notify(const std::vector<ChannelSubscriptions::Listener>& listeners,
                           std::string_view message) {
  for (const ChannelSubscriptions::Listener& each : listeners) {
    if (each.revocations && message != revoke_message) continue;  // the channel is subscribed anew
    notifications_.reserve(1 + 2 * sinks_.size());
    QueuedNotification& queued = notifications_.push();
    queued.sink = each.sink;
    queued.kind = kind_of(each);
    queued.id = each.id;
    queued.text.clear();
    const bool is_fair_waiter = each.id.number != 0;
    if (each.grants || is_fair_waiter) {
      const Grant grant = read_grant(message);
      if (grant.number != 0) queued.kind = Notification::Kind::granted;
      if (!is_fair_waiter) queued.id.number = grant.number;
      queued.place = grant.place;
      queued.token = grant.token;
    }
    try {
      queued.key = each.key;
    } catch (const std::bad_alloc&) {
      // Without its key the release is lost. link_up makes every waiter try again.
      queued.kind = Notification::Kind::link_up;
      queued.id = {};
      queued.key.clear();
    }
  }
}

void DeliveryQueue::notify_all_of(Notification::Kind kind, std::string_view key) {
  notifications_.reserve(3 * sinks_.size());  // those that notify_all needs, too
  for (Sink* const sink : sinks_) {
    std::string text(key);
    QueuedNotification& queued = notifications_.push();
    queued.sink = sink;
    queued.kind = kind;
    queued.key.swap(text);
    queued.id = {};
    queued.text.clear();
  }
}

bool DeliveryQueue::next(Delivery& delivery) noexcept {
  if (!notifications_.empty()) {
    take_notification(delivery);
    return true;
  }
  if (completions_.empty()) return false;
  take_completion(delivery);
  return true;
}

void DeliveryQueue::take_notification(Delivery& delivery) noexcept {
  QueuedNotification& queued = notifications_[0];
  delivery.request = nullptr;
  delivery.sink = queued.sink;
  delivery.kind = queued.kind;
  std::swap(delivery.key, queued.key);
  delivery.id = queued.id;
  delivery.place = queued.place;
  delivery.token = queued.token;
  delivery.server.clear();
  delivery.text.clear();
  if (is_about_connection(queued.kind)) {
    std::swap(delivery.text, queued.text);
    assign_if_possible(delivery.server, server_);
  }
  notifications_.pop();
}

void DeliveryQueue::take_completion(Delivery& delivery) noexcept {
  QueuedCompletion& queued = completions_[0];
  delivery.request = queued.completion.request;
  delivery.sink = queued.completion.sink;
  delivery.outcome = Outcome{};
  delivery.outcome.kind = queued.completion.kind;
  delivery.outcome.token = queued.completion.token;
  delivery.outcome.never_ran = queued.completion.never_ran;
  // The slot gets no memory in return: after an outage thousands of slots would keep theirs.
  delivery.outcome.reason = std::exchange(queued.text, {});
  completions_.pop();
}

void DeliveryQueue::clear() noexcept {
  sinks_.clear();
  completions_.clear();
  notifications_.clear();
}

}  // namespace latchkey::inline v1::detail::redis
