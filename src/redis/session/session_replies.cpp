// The conversation with one Redis server: what answers and pushes mean.
#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "redis/protocol/names.hpp"
#include "redis/protocol/reply.hpp"
#include "redis/session/requests.hpp"
#include "redis/session/session.hpp"

namespace latchkey::detail::redis {
namespace {

Outcome outcome_of(Outcome::Kind kind, std::string text = {}) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.text = std::move(text);
  return outcome;
}

}  // namespace

bool Session::next(Delivery& delivery) noexcept {
  for (;;) {
    delivery.what = Delivery::What::told;
    if (next_told(delivery)) return true;
    if (trouble_ || (stage_ != Stage::greeting && stage_ != Stage::up)) return false;
    const redisReply* const reply = reader_.next();
    if (reply == nullptr) {
      const std::string_view error = reader_.error();
      if (!error.empty()) trouble_ = not_redis(error, handshake_.answered_anything());
      if (!error.empty()) continue;
      return false;
    }
    try {
      if (reply->type == REDIS_REPLY_PUSH) {
        hear(*reply);
      } else if (stage_ == Stage::greeting) {
        greet(*reply);
      } else {
        const bool told = answered_front(*reply, delivery);
        drop_answerless();
        if (told) return true;
      }
    } catch (const std::bad_alloc&) {
      trouble_ = no_memory();
    }
  }
}

bool Session::next_told(Delivery& delivery) noexcept {
  if (!notes_.empty()) {
    Note& note = notes_[0];
    delivery.request = nullptr;
    delivery.sink = note.sink;
    delivery.kind = note.kind;
    std::swap(delivery.key, note.key);
    delivery.id = note.id;
    delivery.server.clear();
    delivery.text.clear();
    if (note.kind == Notification::Kind::link_down || note.kind == Notification::Kind::link_up) {
      std::swap(delivery.text, note.text);
      try {
        delivery.server = server_;
      } catch (const std::bad_alloc&) {
        delivery.server.clear();
      }
    }
    notes_.pop();
    return true;
  }
  if (ended_.empty()) return false;
  Ended& ended = ended_[0];
  delivery.request = ended.request;
  delivery.sink = ended.sink;
  delivery.outcome = Outcome{};
  delivery.outcome.kind = ended.kind;
  delivery.outcome.token = ended.token;
  delivery.outcome.never_ran = ended.never_ran;
  std::swap(delivery.outcome.text, ended.text);
  ended_.pop();
  return true;
}

void Session::greet(const redisReply& reply) {
  switch (handshake_.answered(reply, subscriptions_, greeting_)) {
    case Handshake::Step::goes_on: return;
    case Handshake::Step::failed: trouble_ = handshake_.failure(); return;
    case Handshake::Step::settled: break;
  }
  stage_ = Stage::up;
  up_since_ = heard_at_;
  if (settings_.login.cluster) joined_cluster();
  // One by one, so that a channel that is forbidden keeps nobody from the others.
  if (handshake_.ears_refused()) {
    for (const std::string& name : subscriptions_.names()) ask_once_more(name);
  }
  release_once_more();
  // Who listens may have missed something, and who holds may have lost it.
  const bool was_down = std::exchange(was_up_, true) || last_failure_;
  last_failure_.reset();
  if (was_down) tell_all(Notification::Kind::link_up);
  write_all();
}

// The oldest command has its answer. True: the delivery is to be handed over.
bool Session::answered_front(const redisReply& reply, Delivery& delivery) {
  if (std::exchange(note_owed_, false)) return false;
  drop_answerless();
  if (written_ == 0) {
    trouble_ = not_redis("an answer that nobody asked for", true);
    return false;
  }
  InFlightCommand& pending = pending_[0];
  if (pending.asking && !std::exchange(pending.introduced, true)) return false;
  delivery.request = pending.request;
  delivery.sink = pending.sink;
  if (pending.is_own()) return own_answered(reply, pending, delivery);
  note_owed_ = pending.noted;
  if (pending.ask == InFlightCommand::Ask::channels)
    return channels_answered(reply, pending, delivery);
  return script_answered(reply, pending, delivery);
}

bool Session::channels_answered(const redisReply& reply, InFlightCommand& pending,
                                Delivery& delivery) {
  if (pending.is_about_channels(reply)) {
    pending.refusal = error_text(reply);
    if (pending.refusal.empty()) pending.refusal = "the server refused it";
    return false;
  }
  if (pending.request != nullptr && redirected_by(pending.refusal, pending, delivery)) return true;
  const bool refused = pending.verb == Verb::subscribe && !pending.refusal.empty();
  if (pending.request != nullptr && !pending.refusal.empty()) channels_refused(pending);
  delivery.outcome = refused ? outcome_of(Outcome::Kind::refused, pending.refusal)
                             : outcome_of(Outcome::Kind::granted);
  pop();
  return delivery.request != nullptr;
}

bool Session::script_answered(const redisReply& reply, InFlightCommand& pending,
                              Delivery& delivery) {
  Request* const request = pending.request;
  if (request == nullptr) {
    pop();
    return false;
  }
  if (reply.type == REDIS_REPLY_ERROR) {
    if (redirected_by(text_of(reply), pending, delivery)) return true;
    // The master is another one by now, and a way there is to be found.
    if (server_words(text_of(reply)).starts_with("READONLY")) trouble_ = is_replica();
  }
  if (is_noscript(reply) && pending.ask == InFlightCommand::Ask::script) {
    if (!overtaken(pending)) {
      ask_again(pending, InFlightCommand::Ask::script_text, pending.cursor);
      return false;
    }
    delivery.outcome = outcome_of(Outcome::Kind::unknown,
                                  "the server did not know the script, and a release was behind");
    pop();
    return true;
  }
  try {
    delivery.outcome = read_outcome(*request, reply);
  } catch (const std::bad_alloc&) {
    delivery.outcome = outcome_of(Outcome::Kind::unknown, "out of memory");
  }
  const bool more = request->verb == Verb::list && delivery.outcome.kind == Outcome::Kind::granted;
  const std::uint64_t cursor = more ? list_cursor(reply) : 0;
  if (cursor != 0) {
    pending.deadline = later(heard_at_, settings_.timeout);  // each page has its own time
    ask_again(pending, InFlightCommand::Ask::script, cursor);
    return false;
  }
  if (delivery.outcome.kind == Outcome::Kind::granted && wants_replicas(request->verb)) {
    unconfirmed_.push_back({request, pending.sink, pending.deadline, delivery.outcome.token});
    pop();
    return false;
  }
  pop();
  return true;
}

// Who was refused listens no more. A channel that nobody listens to is left once more: the server
// may have kept it on for somebody who left it while this request was under way.
void Session::channels_refused(const InFlightCommand& pending) {
  const Request& request = *pending.request;
  if (pending.verb == Verb::subscribe) subscriptions_.remove(request, *pending.sink);
  for (const std::string& name : channels_of(request.key, request.type, request.id).names) {
    if (subscriptions_.listeners(name) == nullptr) ask_once_more(name);
  }
}

// At the end of the queue. The place that the old one leaves is the room for the new one.
void Session::ask_again(InFlightCommand& pending, InFlightCommand::Ask ask, std::uint64_t cursor) {
  Request& request = *pending.request;
  Sink& sink = *pending.sink;
  const TimePoint deadline = pending.deadline;
  const bool asking = pending.asking;
  const std::uint8_t hops = pending.hops;
  pop();
  InFlightCommand& again = pending_.push();
  again.start(request, sink, deadline);
  again.asking = asking;
  again.hops = hops;
  again.ask = ask;
  again.cursor = cursor;
  write_all();
}

// An acquire that is asked again behind its own release would leave a hold that nobody gives back.
bool Session::overtaken(const InFlightCommand& pending) const noexcept {
  const auto asks_for = [&](const HoldId& id) {
    if (pending.verb != Verb::acquire_all) return id == pending.id;
    return std::ranges::any_of(pending.request->members,
                               [&](const Member& member) { return member.id == id; });
  };
  for (std::size_t index = 1; index < pending_.size(); ++index) {
    const InFlightCommand& each = pending_[index];
    const bool ends = !each.is_own() && gives_back(each.verb);
    if (ends && asks_for(each.id)) return true;
  }
  return false;
}

void Session::hear(const redisReply& push) {
  if (push.elements < 2) return;
  const std::string_view kind = text_of(*push.element[0]);
  if (kind == "subscribe" || kind == "unsubscribe" || kind == "ssubscribe" ||
      kind == "sunsubscribe") {
    if (stage_ == Stage::greeting) return handshake_.confirmed();
    // In the order of all answers, so it is about the oldest command; unless the server drops
    // listeners of its own accord.
    const bool leaves = kind.find("unsubscribe") != std::string_view::npos;
    const bool expected = written_ > 0 && (pending_[0].verb == Verb::unsubscribe) == leaves;
    if (expected) pending_[0].confirmed = true;
    if (kind == "sunsubscribe") dropped(std::string(text_of(*push.element[1])));
    return;
  }
  if ((kind != "message" && kind != "smessage") || push.elements < 3) return;
  const auto* const listeners = subscriptions_.listeners(text_of(*push.element[1]));
  if (listeners != nullptr) tell_released(*listeners);
}

// The slot of a sharded channel goes to another node, and its listeners with it: where to, the
// answer tells.
void Session::dropped(const std::string& channel) {
  if (stage_ != Stage::up || subscriptions_.listeners(channel) == nullptr) return;
  ask_own(InFlightCommand::Ask::own_channel, Verb::subscribe, channel, heard_at_);
}

void Session::tell_released(const std::vector<Subscriptions::Listener>& listeners) {
  for (const Subscriptions::Listener& each : listeners) {
    notes_.reserve(1 + 2 * sinks_.size());
    Note& note = notes_.push();
    note.sink = each.sink;
    note.kind = Notification::Kind::released;
    note.id = each.id;
    note.text.clear();
    try {
      note.key = each.key;
    } catch (const std::bad_alloc&) {
      // It is lost; link_up says that something was.
      note.kind = Notification::Kind::link_up;
      note.id = {};
      note.key.clear();
    }
  }
}

}  // namespace latchkey::detail::redis
