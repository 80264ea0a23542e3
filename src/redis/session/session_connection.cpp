// The session with one Redis server: connections that come and go, and deadlines.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "backend/verbs.hpp"
#include "redis/session/session.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

using namespace std::chrono_literals;

/// A node that owes a reply for so long may have been replaced.
constexpr auto silent_after = 300ms;
/// In a cluster, a session that only waits for messages sends PING after so long a silence.
constexpr auto ping_after = 1s;

}  // namespace

void Session::want_connection(TimePoint now) noexcept {
  reconnect_.want(now);
  if (stage_ == Stage::down) reconnect_.hasten();
}

void Session::connecting(TimePoint now) noexcept {
  stage_ = Stage::connecting;
  settle_until_ = later(now, settings_.timeout);
}

void Session::connected() noexcept {
  stage_ = Stage::handshake;
  pipeline_.handshake().clear();
  try {
    reader_.reset();
    handshake_.start(pipeline_.handshake());
  } catch (const std::bad_alloc&) {
    trouble_ = no_memory();
  }
}

void Session::received(std::span<const char> bytes, TimePoint now) noexcept {
  last_received_at_ = now;
  now_ = std::max(now_, now);
  if (!trouble_ && !reader_.feed(bytes)) on_malformed_reply();
}

void Session::on_malformed_reply() noexcept {
  try {
    trouble_ = not_redis(reader_.error(), handshake_.answered_anything());
  } catch (const std::bad_alloc&) {
    trouble_ = no_memory();
  }
}

void Session::on_handshake_reply(const redisReply& reply) {
  switch (handshake_.on_reply(reply, subscriptions_, pipeline_.handshake())) {
    case Handshake::Step::in_progress: return;
    case Handshake::Step::failed: trouble_ = handshake_.failure(); return;
    case Handshake::Step::settled: return on_connection_up();
  }
}

void Session::on_connection_up() {
  stage_ = Stage::up;
  if (settings_.login.cluster) join_cluster();
  // Each channel is subscribed to on its own, so that a forbidden one does not affect the others.
  if (handshake_.channels_rejected()) {
    for (const std::string& name : subscriptions_.names()) retry_channel(name);
  }
  repeat_unreplicated_releases();
  // A subscriber may have missed a message, and a holder may have lost its lock.
  const bool had_failed = reconnect_.last_failure() != nullptr;
  reconnect_.connected(last_received_at_);
  if (std::exchange(was_up_, true) || had_failed) {
    deliveries_.notify_all(Notification::Kind::link_up);
  }
  write_all();
}

void Session::join_cluster() {
  call_settings_.in_cluster = true;
  call_settings_.sharded_publish = handshake_.sharded();
  subscriptions_.use_sharded_channels(handshake_.sharded());
  request_slots(last_received_at_);
  if (!handshake_.sharded()) return;
  // One SSUBSCRIBE covers one slot, and another node may serve that slot by now.
  for (const std::string& name : subscriptions_.names()) {
    send_channel_change(Verb::subscribe, name, last_received_at_);
  }
}

void Session::failed(Failure failure, TimePoint now) noexcept {
  const bool was_up = stage_ == Stage::up;
  stage_ = Stage::down;
  trouble_.reset();
  pipeline_.discard_bytes();
  subscriptions_.take_retries();
  if (was_up) on_connection_lost(failure.text);
  if (failure.permanent && !reconnect_.repeats(failure)) {
    deliveries_.notify_all(Notification::Kind::warning);
  }
  reconnect_.failed(std::move(failure), now, listens() || pipeline_.has_live_requests());
  if (reconnect_.last_failure()->is_certain()) end_failing_fast();
  pipeline_.expect_expiry(TimePoint{});  // deadlines are sooner during an outage
  expire_waiting(now);
}

void Session::on_connection_lost(std::string_view why) noexcept {
  if (serves_) deliveries_.notify_all(Notification::Kind::link_down, why);
  handshake_.on_connection_lost();
  idle_.clear();
  pipeline_.drop_sent([&](InFlightCommand& command) { end(command, Outcome::Kind::unknown, why); });
  replicas_.on_connection_lost(why, deliveries_);
}

void Session::retire() noexcept {
  try {
    if (stage_ != Stage::down) trouble_ = Failure{false, "the node serves no keys any more"};
  } catch (const std::bad_alloc&) {
    trouble_ = no_memory();
  }
}

void Session::serves(bool serves) noexcept {
  if (std::exchange(serves_, serves) == serves || serves || stage_ == Stage::up) return;
  deliveries_.notify_all(Notification::Kind::link_up, "other nodes serve its keys");
}

void Session::tick(TimePoint now) noexcept {
  now_ = std::max(now_, now);
  expire_requests(now);
  if (trouble_) return;
  const bool settling = stage_ == Stage::connecting || stage_ == Stage::handshake;
  try {
    if (settling && now >= settle_until_) trouble_ = silence(settings_.timeout);
    if (seems_dead(now)) trouble_ = dead(2 * settings_.timeout);
    send_due_commands(now);
  } catch (const std::bad_alloc&) {
    trouble_ = no_memory();
  }
}

void Session::expire_requests(TimePoint now) noexcept {
  replicas_.expire(now, deliveries_);
  if (stage_ != Stage::up) return expire_waiting(now);
  pipeline_.expire_written(
      now, [&](InFlightCommand& command) { end(command, Outcome::Kind::unknown, silence_); });
}

void Session::expire_waiting(TimePoint now) noexcept {
  pipeline_.expire_waiting(
      now, [&](const InFlightCommand& command) { return deadline_of(command); },
      [&](InFlightCommand& command) { end_unsent(command); });
}

void Session::end_failing_fast() noexcept {
  pipeline_.for_each_live([&](InFlightCommand& command) {
    if (fails_fast(command.verb)) end_unsent(command);
  });
}

void Session::end_unsent(InFlightCommand& command) noexcept {
  const Failure* const failure = reconnect_.last_failure();
  const bool permanent = failure != nullptr && failure->permanent && fails_fast(command.verb);
  // An unsubscribe has taken effect: no later connection subscribes to its channels.
  const bool never_ran = command.verb != Verb::unsubscribe;
  const std::string_view why = failure != nullptr ? failure->text : silence_;
  end(command, permanent ? Outcome::Kind::refused : Outcome::Kind::unknown, why, never_ran);
}

Session::TimePoint Session::deadline_of(const InFlightCommand& command) const noexcept {
  if (stage_ == Stage::up || !fails_fast(command.verb)) return command.deadline;
  return std::min(command.deadline, reconnect_.gives_up_at(command.deadline - settings_.timeout));
}

Session::TimePoint Session::front_submitted_at() const noexcept {
  return pipeline_.front().deadline - settings_.timeout;
}

Session::TimePoint Session::silent_at() const noexcept {
  if (stage_ != Stage::up || !is_working()) return Clock::never();
  return later(std::max(last_received_at_, front_submitted_at()),
               silent_after + replicas_.wait_in_flight());
}

// A server that pauses for a while keeps its connection, and with it the order of commands. A
// server that sends nothing for twice the timeout of a command is given up: it may be gone without
// a trace.
Session::TimePoint Session::dead_at() const noexcept {
  if (!pipeline_.awaits_reply()) return Clock::never();
  return later(std::max(last_received_at_, front_submitted_at()), 2 * settings_.timeout);
}

Session::TimePoint Session::ping_at() const noexcept {
  const bool only_listens =
      settings_.login.cluster && stage_ == Stage::up && !pipeline_.awaits_reply() && listens();
  return only_listens ? later(last_received_at_, ping_after) : Clock::never();
}

Session::TimePoint Session::retries_at() const noexcept {
  return stage_ == Stage::up ? subscriptions_.retries_at() : Clock::never();
}

Session::TimePoint Session::due() const noexcept {
  if (trouble_ || has_news()) return TimePoint{};
  const TimePoint at =
      std::min(pipeline_.next_expiry(stage_ == Stage::up), replicas_.next_expiry());
  switch (stage_) {
    case Stage::down: return std::min(at, reconnect_.next_attempt_at());
    case Stage::connecting:
    case Stage::handshake: return std::min(at, settle_until_);
    case Stage::up: return std::min({at, dead_at(), ping_at(), retries_at(), idle_.due()});
  }
  return at;
}

}  // namespace latchkey::inline v1::detail::redis
