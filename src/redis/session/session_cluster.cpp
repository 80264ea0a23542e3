// The conversation with one node of a cluster: what moves to other nodes, and what the link asks
// for itself.
#include <algorithm>
#include <new>
#include <utility>

#include "redis/session/session.hpp"

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;

/// Who says nothing for so long while it should may have been replaced.
constexpr auto silent_after = 300ms;
/// Where messages are all that is waited for, their absence means nothing: so it is asked.
constexpr auto ping_after = 1s;
/// A channel that the server had something against is asked for, or left, again so soon.
constexpr auto try_again_after = 100ms;
/// One that is wanted and forbidden is asked for again so late: no later than a waiter polls.
constexpr auto permission_pause = 5s;

/// What the server has against a channel passes by itself.
bool passes(std::string_view refusal, const RedisUri::Endpoint& from) {
  return read_redirect(refusal, from).kind == Redirect::Kind::later ||
         refusal.starts_with("BUSY") || refusal.starts_with("LOADING");
}

}  // namespace

void Session::joined_cluster() {
  wire_.sharded_publish = handshake_.sharded();
  subscriptions_.be_sharded(handshake_.sharded());
  ask_slots(heard_at_);
  if (!handshake_.sharded()) return;
  // One command is about one slot, and the slot may be elsewhere by now.
  for (const std::string& name : subscriptions_.names()) {
    ask_own(InFlightCommand::Ask::own_channel, Verb::subscribe, name, heard_at_);
  }
}

// True: the error is about where the request belongs, and the router is to see to it.
bool Session::redirected_by(std::string_view error, InFlightCommand& pending, Delivery& delivery) {
  if (!settings_.login.cluster || error.empty()) return false;
  delivery.redirect = read_redirect(error, settings_.place);
  if (delivery.redirect.kind == Redirect::Kind::none) return false;
  delivery.what = Delivery::What::redirected;
  delivery.request = pending.request;
  delivery.sink = pending.sink;
  delivery.deadline = pending.deadline;
  delivery.hops = static_cast<std::uint8_t>(std::min(pending.hops + 1, 255));
  delivery.overtaken = overtaken(pending);
  delivery.outcome = Outcome{};
  delivery.outcome.text = error;
  pop();
  return true;
}

// Behind all requests, so that it has a place in the order; only while there is a connection.
void Session::ask_own(InFlightCommand::Ask ask, Verb verb, std::string_view channel, TimePoint now,
                      const Request* release) {
  if (stage_ != Stage::up || trouble_) return;
  write_all();
  if (trouble_) return;
  const std::size_t before = queued_.bytes().size();
  pending_.reserve(1);
  switch (ask) {
    case InFlightCommand::Ask::slots: queued_.command({"CLUSTER", "SLOTS"}); break;
    case InFlightCommand::Ask::ping: queued_.command({"PING"}); break;
    case InFlightCommand::Ask::replicas:
      queued_.begin(3), queued_.word("WAIT"), queued_.number(settings_.min_replicas);
      queued_.number(replica_wait_.count());
      break;
    case InFlightCommand::Ask::release: append_eval(queued_, *release, wire_); break;
    default: subscriptions_.append_this(queued_, verb, channel);
  }
  queued_end_ += queued_.bytes().size() - before;
  InFlightCommand& pending = pending_.push();
  pending.start_own(ask, verb, later(now, settings_.timeout));
  pending.end = queued_end_;
  pending.channel = channel;
  ++written_;
}

void Session::ask_slots(TimePoint now) {
  ask_own(InFlightCommand::Ask::slots, Verb::inspect, "", now);
}

bool Session::own_answered(const redisReply& reply, InFlightCommand& pending, Delivery& delivery) {
  if (pending.ask == InFlightCommand::Ask::own_channel)
    return own_channel_answered(reply, pending, delivery);
  const InFlightCommand::Ask asked = pending.ask;
  pop();
  if (asked == InFlightCommand::Ask::replicas) replicas_answered(reply);
  if (asked != InFlightCommand::Ask::slots) return false;
  auto slots = read_slots(reply, settings_.place);
  if (!slots) {
    trouble_ = no_slots(reply);
    return false;
  }
  delivery.what = Delivery::What::slots;
  delivery.slots = *std::move(slots);
  return true;
}

bool Session::own_channel_answered(const redisReply& reply, InFlightCommand& pending,
                                   Delivery& delivery) {
  if (pending.is_about_channels(reply)) {
    pending.refusal = error_text(reply);
    return false;
  }
  const bool joined = pending.verb == Verb::subscribe;
  const bool refused = !pending.refusal.empty();
  const auto* const listeners = subscriptions_.listeners(pending.channel);
  if (refused && passes(pending.refusal, settings_.place)) {
    ask_once_more(pending.channel);
  } else if (refused && joined && listeners != nullptr) {
    ask_once_more(pending.channel);
    unanswered_channels_at_ = later(now_, permission_pause);
  }
  if (joined && redirected_by(pending.refusal, pending, delivery)) return true;
  pop();
  // What was said while nobody listened was missed.
  if (joined && !refused && listeners != nullptr) tell_released(*listeners);
  return false;
}

void Session::ask_once_more(const std::string& channel) {
  if (std::ranges::find(unanswered_channels_, channel) == unanswered_channels_.end())
    unanswered_channels_.push_back(channel);
  unanswered_channels_at_ = later(now_, try_again_after);
}

void Session::take_in(Subscriptions::Channel channel, TimePoint now) {
  was_up_ = true;  // so that link_up is said when it is
  for (const Subscriptions::Listener& each : channel.second) make_room(1, *each.sink);
  const std::string name = channel.first;
  subscriptions_.add(std::move(channel));
  ask_own(InFlightCommand::Ask::own_channel, Verb::subscribe, name, now);
}

void Session::leave(const std::vector<Subscriptions::Channel>& channels, TimePoint now) {
  for (const auto& [name, listeners] : channels) {
    ask_own(InFlightCommand::Ask::own_channel, Verb::unsubscribe, name, now);
  }
}

void Session::inherit(const Session& old) {
  for (Sink* const sink : old.sinks_) make_room(0, *sink);
  unreplicated_releases_.insert(unreplicated_releases_.end(), old.unreplicated_releases_.begin(),
                                old.unreplicated_releases_.end());
  if (stage_ == Stage::up) release_once_more();
  if (stage_ == Stage::up) tell_all(Notification::Kind::link_up);
  was_up_ = true;
}

Session::TimePoint Session::silent_at() const noexcept {
  if (stage_ != Stage::up || !is_working()) return Clock::never();
  const TimePoint asked_at = pending_[0].deadline - settings_.timeout;
  const auto waits = replicas_asked_ ? replica_wait_ : std::chrono::milliseconds(0);
  return later(std::max(heard_at_, asked_at), silent_after + waits);
}

void Session::retire() noexcept {
  try {
    if (stage_ != Stage::down) trouble_ = Failure{false, "the node serves no keys any more"};
  } catch (const std::bad_alloc&) {
    trouble_ = no_memory();
  }
}

void Session::ask_what_is_due(TimePoint now) {
  if (now >= unanswered_channels_due()) {
    for (const std::string& name : std::exchange(unanswered_channels_, {})) {
      const bool wanted = subscriptions_.listeners(name) != nullptr;
      ask_own(InFlightCommand::Ask::own_channel, wanted ? Verb::subscribe : Verb::unsubscribe, name,
              now);
    }
  }
  if (now >= ping_at()) ask_own(InFlightCommand::Ask::ping, Verb::inspect, "", now);
}

Session::TimePoint Session::unanswered_channels_due() const noexcept {
  return stage_ == Stage::up && !unanswered_channels_.empty() ? unanswered_channels_at_
                                                              : Clock::never();
}

Session::TimePoint Session::ping_at() const noexcept {
  const bool idle = settings_.login.cluster && stage_ == Stage::up && written_ == 0 && listens();
  return idle ? later(heard_at_, ping_after) : Clock::never();
}

}  // namespace latchkey::detail::redis
