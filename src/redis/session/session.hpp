// The session with one Redis server, without socket, thread, mutex or clock.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "backend/connection/reconnect_policy.hpp"
#include "redis/protocol/failure.hpp"
#include "redis/protocol/reply_reader.hpp"
#include "redis/protocol/script_call.hpp"
#include "redis/session/channel_subscriptions.hpp"
#include "redis/session/check_batcher.hpp"
#include "redis/session/command_pipeline.hpp"
#include "redis/session/delivery_queue.hpp"
#include "redis/session/handshake.hpp"
#include "redis/session/idle_listeners.hpp"
#include "redis/session/replica_acknowledgement.hpp"

namespace latchkey::inline v1::detail::redis {

/// Turns requests into commands and replies into outcomes, over one connection after the other.
/// Sans-I/O: the owner connects, moves bytes, passes the time and calls sinks.
///
/// | stage      | connected  | handshake settled | failed | what happens                          |
/// |------------|------------|-------------------|--------|---------------------------------------|
/// | down       |            |                   | down   | requests wait until wants_connection  |
/// |            |            |                   |        | holds and `connecting` is called      |
/// | connecting | handshake  |                   | down   | the owner connects a socket           |
/// | handshake  |            | up                | down   | the handshake                         |
/// | up         |            |                   | down   | commands go out, replies come in      |
///
/// After `failed` a request whose last byte was sent ends as unknown, because it may have run. A
/// request that was not sent whole did not run, and keeps its place for the next connection. Every
/// request has a deadline at which it ends as unknown; its reply, if one arrives later, is dropped.
/// While the server is known to be down, requests that fail fast (requests.hpp) end after 250 ms,
/// or at once if nothing listens at the address or the server rejects this client.
///
/// Checks (is_check) are written when bytes are sent, or before the next other request: until then
/// others may join them.
///
/// | part                   | responsibility                                                |
/// |------------------------|---------------------------------------------------------------|
/// | CommandPipeline        | commands in flight, their bytes and deadlines                 |
/// | ChannelSubscriptions   | who listens to which channel                                  |
/// | IdleListeners          | who listens to the channels of idle locks                     |
/// | ReplicaAcknowledgement | WAIT, and what it confirms                                    |
/// | ReconnectPolicy        | when to connect again                                         |
/// | Handshake              | the first commands on a connection                            |
/// | CheckBatcher           | checks that are sent as one call                              |
/// | DeliveryQueue          | outcomes and notifications that sinks have not received yet   |
class Session {
 public:
  struct Settings {
    Handshake::Login login;
    /// How long a command, or an attempt to connect with its handshake, may take.
    std::chrono::milliseconds timeout = std::chrono::seconds(2);
    CallSettings calls{};
    std::uint64_t seed = 0;  ///< seeds the jitter between attempts to connect
    /// How many replicas must confirm a grant, a renewal, a downgrade and a release; 0: none.
    int min_replicas = 0;
    RedisUri::Endpoint endpoint{};  ///< this node's; in a cluster only
  };
  enum class Stage : std::uint8_t { down, connecting, handshake, up };
  using TimePoint = Clock::time_point;

  /// Throws std::bad_alloc.
  explicit Session(Settings settings);

  // --- requests ---
  /// Accepts all requests or, if it throws std::bad_alloc, none.
  void submit(std::span<Request* const> requests, Sink& sink, TimePoint now);
  /// The next `count` requests of the sink need no memory. Throws std::bad_alloc.
  void reserve(std::size_t count, Sink& sink);
  /// Accepts a request that another node redirected or that waited for its slot's owner. `asking`:
  /// ASKING is sent before it.
  void resubmit(const QueuedRequest& request, bool asking, TimePoint now);

  // --- one node of a cluster ---
  /// Sends CLUSTER SLOTS if the connection is up.
  void request_slots(TimePoint now);
  /// Takes out the requests for which `moves(*request)` holds. None while the connection is up.
  template <class Moves>
  [[nodiscard]] std::vector<QueuedRequest> take_unsent(Moves&& moves);
  /// Moves each channel to the session `owner_of(name)`, unless that is this one or null.
  template <class OwnerOf>
  void move_channels(OwnerOf&& owner_of, TimePoint now);
  /// Takes over from a session whose node serves no slots any more: it notifies its sinks that
  /// they may have missed something.
  void inherit(const Session& retired);
  /// Whether a reply is overdue by so much that the node may have been replaced.
  [[nodiscard]] bool is_silent(TimePoint now) const noexcept { return now >= silent_at(); }
  [[nodiscard]] TimePoint silent_at() const noexcept;
  /// The connection is to be closed.
  void retire() noexcept;
  /// Whether the node has slots. The loss of a node without slots is not reported.
  void serves(bool serves) noexcept;

  // --- the connection ---
  [[nodiscard]] bool wants_connection(TimePoint now) const noexcept {
    return stage_ == Stage::down && now >= reconnect_.next_attempt_at();
  }
  /// A caller needs the connection: the next attempt is made soon.
  void want_connection(TimePoint now) noexcept;
  void connecting(TimePoint now) noexcept;
  void connected() noexcept;
  void received(std::span<const char> bytes, TimePoint now) noexcept;
  /// The connection ended, or could not be made.
  void failed(Failure failure, TimePoint now) noexcept;
  /// Not empty: the owner is to close the connection and to call `failed` with this.
  [[nodiscard]] const std::optional<Failure>& trouble() const noexcept { return trouble_; }

  // --- bytes to send ---
  /// The bytes stay in place until `sent` or `failed` is called, also if requests are submitted.
  [[nodiscard]] std::string_view to_send() noexcept;
  [[nodiscard]] bool anything_to_send() const noexcept;
  void sent(std::size_t count) noexcept { pipeline_.sent(count); }
  /// Whether the server has received a command that it has not replied to.
  [[nodiscard]] bool is_working() const noexcept { return pipeline_.is_server_busy(); }
  /// Bytes that the server has received after the command that it works on.
  [[nodiscard]] std::size_t backlog() const noexcept { return pipeline_.server_backlog(); }
  /// Bytes that wait to be sent; about so many if checks are not written yet.
  [[nodiscard]] std::size_t unsent() const noexcept {
    constexpr std::size_t bytes_of_check = 100;
    return pipeline_.unsent_bytes(stage_ == Stage::handshake) +
           pipeline_.unwritten_count() * bytes_of_check;
  }

  // --- time ---
  /// Whether the next tick gives the server up because nothing was received from it for too long.
  /// Perhaps nobody has read what has arrived: the owner reads once before it calls `tick`.
  [[nodiscard]] bool seems_dead(TimePoint now) const noexcept {
    return stage_ == Stage::up && now >= dead_at();
  }
  void tick(TimePoint now) noexcept;
  /// When the next tick is due.
  [[nodiscard]] TimePoint due() const noexcept;

  // --- deliveries ---
  /// False: there is nothing to deliver now.
  bool next(Delivery& delivery) noexcept;
  /// Whether `next` has something to deliver without reading another reply.
  [[nodiscard]] bool has_news() const noexcept { return !deliveries_.empty(); }

  // --- state ---
  [[nodiscard]] Stage stage() const noexcept { return stage_; }
  [[nodiscard]] std::size_t unanswered() const noexcept {
    return pipeline_.size() + replicas_.unconfirmed();
  }
  /// Whether the server has replied on the current connection.
  [[nodiscard]] bool was_answered() const noexcept { return handshake_.answered_anything(); }
  [[nodiscard]] bool listens() const noexcept { return !subscriptions_.empty(); }
  /// Whether somebody has to read although no request awaits a reply: the server may tell of
  /// something, or is to be asked who listens.
  [[nodiscard]] bool is_to_be_read() const noexcept { return listens() || !idle_.empty(); }
  /// The node of a cluster; empty: there is one server.
  [[nodiscard]] const std::string& server() const noexcept { return deliveries_.server(); }
  /// Why the server is a bad choice, as clauses; empty: it is fine.
  [[nodiscard]] std::string warning() const { return handshake_.warning(); }
  /// Whether the server tells of changes of keys.
  [[nodiscard]] bool watches() const noexcept { return handshake_.watches(); }
  /// The run_id of the server; empty: it is not connected, or INFO does not say.
  [[nodiscard]] const std::string& run_id() const noexcept { return handshake_.run_id(); }
  [[nodiscard]] bool may_kill() const noexcept { return handshake_.may_kill().value_or(false); }
  /// Why there is no connection; null: there is one, or no attempt has failed yet.
  [[nodiscard]] const Failure* last_failure() const noexcept {
    return stage_ != Stage::up ? reconnect_.last_failure() : nullptr;
  }

  /// In a forked child: everything belongs to the parent.
  void forget() noexcept;

 private:
  // commands (session.cpp)
  void enqueue(const QueuedRequest& request, bool asking) noexcept;
  void after_submit(TimePoint now) noexcept;
  void write_all() noexcept;
  void write(InFlightCommand& command) noexcept;
  void write_together(std::size_t checks) noexcept;
  void append(InFlightCommand& command);
  /// Whether the server tells of those who want the lock that `command` leaves idle.
  [[nodiscard]] bool is_recalled(const InFlightCommand& command) const noexcept {
    return command.request->recall && handshake_.watches() && !command.asking;
  }
  void send_wait_if_due();
  template <class Append>
  void send_internal(InFlightCommand::Kind kind, Verb verb, TimePoint now, Append&& append_to,
                     std::string_view channel = {});
  void send_channel_change(Verb verb, std::string_view channel, TimePoint now);
  void send_due_commands(TimePoint now);
  void repeat_unreplicated_releases();
  void adopt_channel(ChannelSubscriptions::Channel channel, TimePoint now);
  void end(InFlightCommand& command, Outcome::Kind kind, std::string_view text,
           bool never_ran = false) noexcept;
  [[nodiscard]] CommandPipeline::Lane lane() const noexcept;

  // the connection and time (session_connection.cpp)
  void on_malformed_reply() noexcept;
  void on_handshake_reply(const redisReply& reply);
  void on_connection_up();
  void join_cluster();
  void on_connection_lost(std::string_view why) noexcept;
  void expire_requests(TimePoint now) noexcept;
  void expire_waiting(TimePoint now) noexcept;
  void end_failing_fast() noexcept;
  void end_unsent(InFlightCommand& command) noexcept;
  [[nodiscard]] TimePoint deadline_of(const InFlightCommand& command) const noexcept;
  [[nodiscard]] TimePoint front_submitted_at() const noexcept;
  [[nodiscard]] TimePoint dead_at() const noexcept;
  [[nodiscard]] TimePoint ping_at() const noexcept;
  [[nodiscard]] TimePoint retries_at() const noexcept;

  // replies (session_replies.cpp); true: `delivery` is to be handed over
  bool on_reply(const redisReply& reply, Delivery& delivery);
  bool on_command_reply(const redisReply& reply, Delivery& delivery);
  bool on_channel_reply(const redisReply& reply, InFlightCommand& command, Delivery& delivery);
  bool on_script_reply(const redisReply& reply, InFlightCommand& command, Delivery& delivery);
  bool on_unknown_script(InFlightCommand& command, Delivery& delivery);
  bool on_internal_reply(const redisReply& reply, InFlightCommand& command, Delivery& delivery);
  bool on_internal_channel_reply(const redisReply& reply, InFlightCommand& command,
                                 Delivery& delivery);
  bool on_slots_reply(const redisReply& reply, Delivery& delivery);
  void on_push(const redisReply& push);
  void on_invalidation(const redisReply& keys);
  void on_channel_push(std::string_view kind, std::string_view channel);
  bool redirected_by(std::string_view error, InFlightCommand& command, Delivery& delivery);
  void on_channels_rejected(const InFlightCommand& command);
  void repeat_front(InFlightCommand::Kind kind, std::uint64_t cursor);
  void retry_channel(const std::string& channel);

  const Settings settings_;
  const std::string silence_;  ///< why a request ends whose reply is overdue
  CallSettings call_settings_;
  Stage stage_ = Stage::down;
  std::optional<Failure> trouble_;

  Handshake handshake_;
  ReplyReader reader_;
  CommandPipeline pipeline_;
  ChannelSubscriptions subscriptions_{*call_settings_.layout};
  IdleListeners idle_{*call_settings_.layout};
  ReplicaAcknowledgement replicas_;
  ReconnectPolicy reconnect_;
  DeliveryQueue deliveries_;
  CheckBatcher checks_{pipeline_, replicas_, deliveries_, *call_settings_.layout};

  bool serves_ = true;   ///< the node has slots, or there is one server
  bool was_up_ = false;  ///< sinks may miss something whenever the connection comes up again
  TimePoint now_{};
  TimePoint settle_until_{};      ///< connecting and handshake
  TimePoint last_received_at_{};  ///< up
};

template <class Moves>
std::vector<QueuedRequest> Session::take_unsent(Moves&& moves) {
  if (stage_ == Stage::up) return {};
  return pipeline_.take_unsent(moves);
}

template <class OwnerOf>
void Session::move_channels(OwnerOf&& owner_of, TimePoint now) {
  std::vector<ChannelSubscriptions::Channel> channels =
      subscriptions_.extract([&](std::string_view name) {
        const Session* const owner = owner_of(name);
        return owner != nullptr && owner != this;
      });
  for (const auto& [name, listeners] : channels) {
    // The handshake may have subscribed to it. Sharded channels are subscribed to after it.
    if (stage_ == Stage::handshake && !handshake_.sharded()) subscriptions_.retry(name, now);
    send_channel_change(Verb::unsubscribe, name, now);
  }
  for (ChannelSubscriptions::Channel& channel : channels) {
    owner_of(channel.first)->adopt_channel(std::move(channel), now);
  }
}

}  // namespace latchkey::inline v1::detail::redis
