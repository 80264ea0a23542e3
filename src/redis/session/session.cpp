// The session with one Redis server: requests become commands.
// SPDX-License-Identifier: BSL-1.0
#include "redis/session/session.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "redis/protocol/check_batch.hpp"
#include "redis/protocol/names.hpp"
#include "redis/session/slots.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

/// Why a request must not be sent; empty: it may.
std::optional<std::string> reason_to_reject(const Request& request, bool cluster) {
  const bool latch = request.latch || request.verb == Verb::latch_set ||
                     request.verb == Verb::latch_down || request.verb == Verb::latch_count ||
                     request.verb == Verb::latch_delete;
  if (latch && cluster && request.key.find('{') != std::string_view::npos) {
    return "the latch '" + std::string(request.key) +
           "' has braces, so that Redisson's channel for it is in another hash slot of the "
           "cluster: use a name without braces";
  }
  if (request.verb == Verb::list) return std::nullopt;  // its key is a pattern
  if (request.type == LockType::PERMIT) {
    if (auto reason = refuse_semaphore_name(request.key)) return reason;
  }
  if (request.verb != Verb::acquire_all) return refuse_name(request.key);
  for (const Member& member : request.members) {
    if (member.type == LockType::FAIR) return "FAIR locks are not taken with others in one step";
    if (auto reason = refuse_name(member.key)) return reason;
  }
  return std::nullopt;
}

}  // namespace

Session::Session(Settings settings)
    : settings_(std::move(settings)),
      silence_(silence(settings_.timeout).text),
      call_settings_(settings_.calls),
      handshake_(settings_.login),
      replicas_(settings_.min_replicas, settings_.timeout),
      reconnect_(settings_.seed),
      deliveries_(settings_.login.cluster ? settings_.endpoint.text() : std::string()) {}

// A request may end without a reply, and a sink may be notified that the connection is gone.
// Neither may fail for lack of memory, so the room is reserved before the request is accepted.
void Session::reserve(std::size_t count, Sink& sink) {
  pipeline_.reserve(count);
  deliveries_.reserve(pipeline_.size() + replicas_.unconfirmed() + count);
  deliveries_.add_sink(sink);
}

void Session::submit(std::span<Request* const> requests, Sink& sink, TimePoint now) {
  now_ = std::max(now_, now);
  reserve(requests.size(), sink);
  subscriptions_.add_all(requests, sink);
  subscriptions_.remove_all(requests, sink);
  for (Request* const request : requests) {
    const TimePoint from = request->sent != TimePoint{} ? request->sent : now;
    enqueue({request, &sink, later(from, settings_.timeout), 0}, false);
  }
  after_submit(now);
}

void Session::resubmit(const QueuedRequest& request, bool asking, TimePoint now) {
  now_ = std::max(now_, now);
  reserve(1, *request.sink);
  if (request.request->verb == Verb::subscribe) subscriptions_.add(*request.request, *request.sink);
  if (request.request->verb == Verb::unsubscribe) {
    subscriptions_.remove(*request.request, *request.sink);
  }
  enqueue(request, asking);
  after_submit(now);
}

void Session::enqueue(const QueuedRequest& request, bool asking) noexcept {
  idle_.note(*request.request);
  InFlightCommand& command = pipeline_.push();
  command.start(*request.request, *request.sink, request.deadline);
  command.asking = asking;
  command.hops = request.hops;
  if (settings_.login.cluster && is_check(command.verb)) {
    command.slot = slot_of(request.request->key);
  }
  pipeline_.expect_expiry(deadline_of(command));
}

void Session::after_submit(TimePoint now) noexcept {
  if (stage_ == Stage::up) {
    if (!pipeline_.ends_with_check()) write_all();
    return;
  }
  want_connection(now);
  const bool tries = stage_ != Stage::down || wants_connection(now);
  const Failure* const failure = reconnect_.last_failure();
  if (!tries && failure != nullptr && failure->is_certain()) end_failing_fast();
}

std::string_view Session::to_send() noexcept {
  if (lane() == CommandPipeline::Lane::commands) write_all();
  return pipeline_.to_send(lane());
}

bool Session::anything_to_send() const noexcept {
  const bool writes = lane() == CommandPipeline::Lane::commands && pipeline_.has_unwritten();
  return writes || pipeline_.anything_to_send(lane());
}

void Session::write_all() noexcept {
  if (settings_.login.cluster) pipeline_.group_checks_by_slot();
  while (!trouble_) {
    InFlightCommand* const command = pipeline_.next_to_write();
    if (command == nullptr) break;
    const std::size_t together = pipeline_.batch_length();
    together > 1 ? write_together(together) : write(*command);
  }
  pipeline_.drop_unsendable();
  try {
    send_wait_if_due();
  } catch (const std::bad_alloc&) {
    trouble_ = no_memory();
  }
}

void Session::write_together(std::size_t checks) noexcept {
  try {
    checks_.write(checks, handshake_.watches());
  } catch (const std::bad_alloc&) {
    trouble_ = no_memory();
  }
}

// A request is rejected here and not when it is submitted, so that outcomes keep their order.
void Session::write(InFlightCommand& command) noexcept {
  try {
    if (command.request != nullptr) {
      const auto reason = reason_to_reject(*command.request, settings_.login.cluster);
      if (reason) end(command, Outcome::Kind::refused, *reason);
    }
    append(command);
    command.end = pipeline_.stream_end();
    // The note's command does not count as part of its request: a note may get lost.
    const bool has_note = command.request != nullptr && !command.request->note.empty();
    if (has_note && append_note(pipeline_.stream(), *command.request, *call_settings_.layout))
      command.replies_after = 1;
    if (handshake_.watches() && !command.asking)
      command.replies_after += append_watch(pipeline_.stream(), command.request);
  } catch (const std::bad_alloc&) {
    // Half a command may be in the stream, so this connection is of no use any more.
    trouble_ = no_memory();
    return;
  }
  pipeline_.mark_written();
  if (command.request != nullptr && replicas_.applies_to(command.verb)) replicas_.require();
}

void Session::append(InFlightCommand& command) {
  command.replies_before = command.replies_after = 0;
  command.batch = 1;
  if (command.request == nullptr) {
    command.kind = InFlightCommand::Kind::nothing;
    return;
  }
  CommandBuffer& out = pipeline_.stream();
  const bool caches = is_recalled(command);
  if (command.asking) out.command({"ASKING"});
  if (caches) out.command({"CLIENT", "CACHING", "YES"});
  if (command.asking || caches) command.replies_before = 1;
  switch (command.kind) {
    case InFlightCommand::Kind::channels:
      command.changed = channels_of(*command.request, *call_settings_.layout);
      command.confirmed = !subscriptions_.append_change(out, command.verb, command.changed);
      return;
    case InFlightCommand::Kind::script_text:
      return append_eval(out, *command.request, call_settings_, command.cursor);
    default: return append_evalsha(out, *command.request, call_settings_, command.cursor);
  }
}

// All requests are written before an internal command, which then has its place among the replies.
// Without a connection it is dropped: a new connection sends what it needs itself.
template <class Append>
void Session::send_internal(InFlightCommand::Kind kind, Verb verb, TimePoint now,
                            Append&& append_to, std::string_view channel) {
  if (stage_ != Stage::up || trouble_) return;
  write_all();
  if (trouble_) return;
  pipeline_.reserve(1);
  append_to(pipeline_.stream());
  InFlightCommand& command = pipeline_.push();
  command.start_internal(kind, verb, later(now, settings_.timeout));
  command.end = pipeline_.stream_end();
  command.changed.names[0] = channel;
  command.changed.count = 1;
  pipeline_.mark_written();
}

void Session::request_slots(TimePoint now) {
  send_internal(InFlightCommand::Kind::slots, Verb::inspect, now,
                [](CommandBuffer& out) { out.command({"CLUSTER", "SLOTS"}); });
}

void Session::send_channel_change(Verb verb, std::string_view channel, TimePoint now) {
  send_internal(
      InFlightCommand::Kind::internal_channel, verb, now,
      [&](CommandBuffer& out) { subscriptions_.append_one(out, verb, channel); }, channel);
}

void Session::send_wait_if_due() {
  if (stage_ != Stage::up || trouble_) return;
  const auto length = replicas_.start_wait(now_);
  if (!length) return;
  send_internal(InFlightCommand::Kind::wait, Verb::verify, now_, [&](CommandBuffer& out) {
    out.begin(3), out.word("WAIT");
    out.number(replicas_.min_replicas()), out.number(length->count());
  });
}

void Session::send_due_commands(TimePoint now) {
  if (now >= retries_at()) {
    for (const std::string& name : subscriptions_.take_retries()) {
      const bool wanted = subscriptions_.listeners(name) != nullptr;
      send_channel_change(wanted ? Verb::subscribe : Verb::unsubscribe, name, now);
    }
  }
  if (now >= idle_.due()) {
    send_internal(InFlightCommand::Kind::listeners, Verb::inspect, now, [&](CommandBuffer& out) {
      idle_.append_question(out, call_settings_.sharded_publish, now);
    });
  }
  if (now < ping_at()) return;
  send_internal(InFlightCommand::Kind::ping, Verb::inspect, now,
                [](CommandBuffer& out) { out.command({"PING"}); });
}

// These releases stay remembered until replicas have confirmed them.
void Session::repeat_unreplicated_releases() {
  const auto& releases = replicas_.unreplicated_releases();
  for (const auto& each : releases) {
    send_internal(InFlightCommand::Kind::repeated_release, each.release.verb, now_,
                  [&](CommandBuffer& out) { append_eval(out, each.request(), call_settings_); });
  }
  if (!releases.empty()) replicas_.require();
  send_wait_if_due();
}

void Session::adopt_channel(ChannelSubscriptions::Channel channel, TimePoint now) {
  was_up_ = true;  // the listeners may have missed something, so the first link_up is reported, too
  for (const ChannelSubscriptions::Listener& each : channel.second) reserve(1, *each.sink);
  const std::string name = channel.first;
  subscriptions_.add(std::move(channel));
  send_channel_change(Verb::subscribe, name, now);
}

void Session::inherit(const Session& retired) {
  for (Sink* const sink : retired.deliveries_.sinks()) reserve(0, *sink);
  replicas_.adopt_releases(retired.replicas_);
  if (stage_ == Stage::up) {
    repeat_unreplicated_releases();
    deliveries_.notify_all(Notification::Kind::link_up);
  }
  was_up_ = true;
}

// The request ends. Its command keeps its place in the queue.
void Session::end(InFlightCommand& command, Outcome::Kind kind, std::string_view text,
                  bool never_ran) noexcept {
  Request* const request = std::exchange(command.request, nullptr);
  deliveries_.complete({request, command.sink, kind, 0, never_ran}, text);
}

CommandPipeline::Lane Session::lane() const noexcept {
  if (stage_ == Stage::handshake) return CommandPipeline::Lane::handshake;
  if (stage_ == Stage::up && !trouble_) return CommandPipeline::Lane::commands;
  return CommandPipeline::Lane::closed;
}

void Session::forget() noexcept {
  stage_ = Stage::down;
  trouble_.reset();
  was_up_ = false;
  handshake_.forget();
  pipeline_.clear();
  subscriptions_.clear();
  idle_.clear();
  replicas_.clear();
  reconnect_.reset();
  deliveries_.clear();
}

}  // namespace latchkey::inline v1::detail::redis
