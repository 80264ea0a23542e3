// The session with one Redis server: replies become outcomes.
// tidy: long-file because each kind of reply is one function
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <chrono>
#include <new>
#include <string>
#include <utility>

#include "redis/protocol/reply.hpp"
#include "redis/session/session.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

using namespace std::chrono_literals;

/// When a channel that the server rejected is tried again.
constexpr auto channel_pause = 100ms;
/// When a channel that the user may not use is tried again. A waiter polls no later than that.
constexpr auto permission_pause = 5s;

Outcome outcome_of(Outcome::Kind kind, std::string reason = {}) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.reason = std::move(reason);
  return outcome;
}

/// Whether an error about a channel goes away by itself.
bool is_transient(std::string_view error, const RedisUri::Endpoint& from) {
  return read_redirect(error, from).kind == Redirect::Kind::later || error.starts_with("BUSY") ||
         error.starts_with("LOADING");
}

/// Whether the node refused to end a subscription because it does not serve the channel's slot any
/// more: it has ended the subscription itself.
bool is_gone(const InFlightCommand& command, const RedisUri::Endpoint& from) {
  return command.verb == Verb::unsubscribe &&
         read_redirect(command.error, from).kind == Redirect::Kind::moved;
}

}  // namespace

bool Session::next(Delivery& delivery) noexcept {
  for (;;) {
    delivery.type = Delivery::Type::sink_event;
    if (deliveries_.next(delivery)) return true;
    if (trouble_ || (stage_ != Stage::handshake && stage_ != Stage::up)) return false;
    const redisReply* const reply = reader_.next();
    if (reply == nullptr) {
      if (reader_.error().empty()) return false;
      on_malformed_reply();
      continue;
    }
    try {
      if (on_reply(*reply, delivery)) return true;
    } catch (const std::bad_alloc&) {
      trouble_ = no_memory();
    }
  }
}

bool Session::on_reply(const redisReply& reply, Delivery& delivery) {
  if (reply.type == REDIS_REPLY_PUSH) {
    on_push(reply);
    return false;
  }
  if (stage_ == Stage::handshake) {
    on_handshake_reply(reply);
    return false;
  }
  const bool has_delivery = on_command_reply(reply, delivery);
  pipeline_.drop_unsendable();
  return has_delivery;
}

bool Session::on_command_reply(const redisReply& reply, Delivery& delivery) {
  switch (pipeline_.match_reply()) {
    case CommandPipeline::ReplyFor::nobody: return false;
    case CommandPipeline::ReplyFor::unexpected:
      trouble_ = not_redis("an answer that nobody asked for", true);
      return false;
    case CommandPipeline::ReplyFor::front: break;
  }
  InFlightCommand& command = pipeline_.front();
  if (command.batch > 1) {
    checks_.on_reply(reply);
    write_all();
    return false;
  }
  delivery.request = command.request;
  delivery.sink = command.sink;
  if (command.is_internal()) return on_internal_reply(reply, command, delivery);
  if (command.kind == InFlightCommand::Kind::channels) {
    return on_channel_reply(reply, command, delivery);
  }
  return on_script_reply(reply, command, delivery);
}

bool Session::on_channel_reply(const redisReply& reply, InFlightCommand& command,
                               Delivery& delivery) {
  if (command.is_channel_error(reply)) {
    command.error = error_text(reply);
    if (command.error.empty()) command.error = "the server refused it";
    return false;
  }
  const bool has_error = !command.error.empty();
  if (command.request != nullptr && redirected_by(command.error, command, delivery)) return true;
  if (has_error) on_channels_rejected(command);
  const bool refused = command.verb == Verb::subscribe && has_error;
  delivery.outcome = refused ? outcome_of(Outcome::Kind::refused, command.error)
                             : outcome_of(Outcome::Kind::granted);
  pipeline_.pop();
  return delivery.request != nullptr;
}

bool Session::on_script_reply(const redisReply& reply, InFlightCommand& command,
                              Delivery& delivery) {
  Request* const request = command.request;
  if (request == nullptr) {
    pipeline_.pop();
    return false;
  }
  if (reply.type == REDIS_REPLY_ERROR) {
    if (redirected_by(text_of(reply), command, delivery)) return true;
    // Another server is the master by now, so this connection ends, and its name is looked up.
    if (server_words(text_of(reply)).starts_with("READONLY")) trouble_ = is_replica();
  }
  if (is_noscript(reply) && command.kind == InFlightCommand::Kind::script) {
    return on_unknown_script(command, delivery);
  }
  try {
    delivery.outcome = read_outcome(*request, reply, *call_settings_.layout);
    const bool is_idle = delivery.outcome.kind == Outcome::Kind::granted && request->recall;
    if (is_idle && !is_recalled(command)) {
      delivery.outcome = outcome_of(Outcome::Kind::refused, "nobody would tell of those who wait");
    }
    idle_.on_reply(*request, delivery.outcome, last_received_at_);
  } catch (const std::bad_alloc&) {
    delivery.outcome = outcome_of(Outcome::Kind::unknown, "out of memory");
  }
  const bool granted = delivery.outcome.kind == Outcome::Kind::granted;
  const bool may_have_pages = request->verb == Verb::list && request->part == nullptr && granted;
  if (const std::uint64_t cursor = may_have_pages ? list_cursor(reply) : 0; cursor != 0) {
    command.deadline = later(last_received_at_, settings_.timeout);  // each page has its own
    repeat_front(InFlightCommand::Kind::script, cursor);
    return false;
  }
  const bool awaits_replicas = granted && replicas_.applies_to(request->verb);
  if (awaits_replicas) {
    replicas_.await({request, command.sink, Outcome::Kind::granted, delivery.outcome.token},
                    command.deadline);
  }
  pipeline_.pop();
  return !awaits_replicas;
}

// An acquire that is repeated after its own release would leave a hold that nobody releases.
bool Session::on_unknown_script(InFlightCommand& command, Delivery& delivery) {
  if (!pipeline_.front_is_overtaken()) {
    repeat_front(InFlightCommand::Kind::script_text, command.cursor);
    return false;
  }
  delivery.outcome =
      outcome_of(Outcome::Kind::unknown,
                 "the server had lost the script, and a release followed in the same pipeline; "
                 "try again");
  pipeline_.pop();
  return true;
}

bool Session::on_internal_reply(const redisReply& reply, InFlightCommand& command,
                                Delivery& delivery) {
  using What = InFlightCommand::Kind;
  const What what = command.kind;
  if (what == What::internal_channel) return on_internal_channel_reply(reply, command, delivery);
  pipeline_.pop();
  if (what == What::slots) return on_slots_reply(reply, delivery);
  if (what == What::listeners) idle_.on_answer(reply, last_received_at_, deliveries_);
  if (what == What::wait) {
    replicas_.on_wait_reply(reply, deliveries_);
    send_wait_if_due();
  }
  return false;
}

bool Session::on_slots_reply(const redisReply& reply, Delivery& delivery) {
  auto slots = read_slots(reply, settings_.endpoint);
  if (!slots) {
    trouble_ = no_slots(reply);
    return false;
  }
  delivery.type = Delivery::Type::slot_map;
  delivery.slots = *std::move(slots);
  return true;
}

bool Session::on_internal_channel_reply(const redisReply& reply, InFlightCommand& command,
                                        Delivery& delivery) {
  if (command.is_channel_error(reply)) {
    command.error = error_text(reply);
    return false;
  }
  const bool subscribed = command.verb == Verb::subscribe;
  const bool rejected = !command.error.empty() && !is_gone(command, settings_.endpoint);
  const auto* const listeners = subscriptions_.listeners(command.changed.names[0]);
  if (rejected && is_transient(command.error, settings_.endpoint)) {
    retry_channel(command.changed.names[0]);
  } else if (rejected && subscribed == (listeners != nullptr)) {
    subscriptions_.retry(command.changed.names[0], later(now_, permission_pause));
  }
  if (subscribed && redirected_by(command.error, command, delivery)) return true;
  pipeline_.pop();
  // The listeners have missed what was published before the subscription.
  if (subscribed && !rejected && listeners != nullptr) deliveries_.notify(*listeners, "0");
  return false;
}

// The router decides where the request goes next.
bool Session::redirected_by(std::string_view error, InFlightCommand& command, Delivery& delivery) {
  if (!settings_.login.cluster || error.empty()) return false;
  delivery.redirect = read_redirect(error, settings_.endpoint);
  if (delivery.redirect.kind == Redirect::Kind::none) return false;
  // A release waits for a lock to become idle, and follows at once if it cannot.
  const bool later = delivery.redirect.kind == Redirect::Kind::later;
  if (later && command.request != nullptr && command.request->recall) return false;
  delivery.type = Delivery::Type::redirect;
  delivery.request = command.request;
  delivery.sink = command.sink;
  delivery.deadline = command.deadline;
  delivery.hops = static_cast<std::uint8_t>(std::min(command.hops + 1, 255));
  delivery.overtaken = pipeline_.front_is_overtaken();
  delivery.outcome = Outcome{};
  delivery.outcome.reason = error;
  pipeline_.pop();
  return true;
}

// A subscriber that is rejected listens no more. A channel without listeners is unsubscribed from
// once more: the server may have kept the subscription for a listener that left meanwhile. That
// holds after the request has ended, too: nobody else knows of the rejection.
void Session::on_channels_rejected(const InFlightCommand& command) {
  if (command.verb == Verb::subscribe && command.request != nullptr) {
    subscriptions_.remove(*command.request, *command.sink);
  }
  for (const std::string& name : command.changed.all()) {
    if (subscriptions_.listeners(name) == nullptr) retry_channel(name);
  }
}

void Session::repeat_front(InFlightCommand::Kind kind, std::uint64_t cursor) {
  pipeline_.requeue_front(kind, cursor);
  write_all();
}

void Session::retry_channel(const std::string& channel) {
  subscriptions_.retry(channel, later(now_, channel_pause));
}

void Session::on_push(const redisReply& push) {
  if (push.elements < 2) return;
  const std::string_view kind = text_of(*push.element[0]);
  if (kind == "invalidate") return on_invalidation(*push.element[1]);
  const std::string_view channel = text_of(*push.element[1]);
  if (kind == "subscribe" || kind == "unsubscribe" || kind == "ssubscribe" ||
      kind == "sunsubscribe") {
    return on_channel_push(kind, channel);
  }
  if ((kind != "message" && kind != "smessage") || push.elements < 3) return;
  const std::string_view message = text_of(*push.element[2]);
  const auto* const listeners = subscriptions_.listeners(channel);
  if (listeners != nullptr && message != for_redisson_only) {
    deliveries_.notify(*listeners, message);
  }
}

// The server names the keys that have changed, or none after FLUSHALL and FLUSHDB.
void Session::on_invalidation(const redisReply& keys) {
  using Kind = Notification::Kind;
  if (keys.type == REDIS_REPLY_NIL) deliveries_.notify_all_of(Kind::changed, {});
  for (const redisReply* const each : elements_of(keys)) {
    const std::string_view name = text_of(*each);
    const LocksOfQueue queue(name);
    if (queue.keys[0].empty()) deliveries_.notify_all_of(Kind::changed, name);
    for (const std::string_view key : queue.keys) {
      if (!key.empty()) deliveries_.notify_all_of(Kind::wanted, key);
    }
  }
}

// Pushes keep the order of replies, so this one belongs to the oldest command. If that command
// changes no channels, the server has ended a subscription on its own: the slot of a sharded
// channel moves to another node. The reply to a new subscription says to which.
void Session::on_channel_push(std::string_view kind, std::string_view channel) {
  if (stage_ == Stage::handshake) return handshake_.on_channels_confirmed();
  const bool unsubscribed = kind.find("unsubscribe") != std::string_view::npos;
  if (pipeline_.awaits_reply()) {
    InFlightCommand& oldest = pipeline_.front();
    if ((oldest.verb == Verb::unsubscribe) == unsubscribed) oldest.confirmed = true;
  }
  if (kind != "sunsubscribe" || stage_ != Stage::up) return;
  if (subscriptions_.listeners(channel) == nullptr) return;
  const std::string name(channel);
  send_channel_change(Verb::subscribe, name, last_received_at_);
}

}  // namespace latchkey::inline v1::detail::redis
