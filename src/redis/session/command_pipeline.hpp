// The commands of one connection: their order, their bytes and their deadlines.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/hold_id.hpp>

#include "core/hash_of_id.hpp"
#include "redis/protocol/check_batch.hpp"
#include "redis/protocol/command_buffer.hpp"
#include "redis/protocol/names.hpp"
#include "redis/session/delivery_queue.hpp"
#include "redis/session/ring_queue.hpp"

namespace latchkey::inline v1::detail::redis {

/// One command, or one pair of SUBSCRIBE and PING: an element of the order in which replies arrive.
struct InFlightCommand {
  enum class Kind : std::uint8_t {
    script,       ///< EVALSHA
    script_text,  ///< EVAL, after NOSCRIPT
    channels,     ///< SUBSCRIBE or UNSUBSCRIBE; the reply to a PING completes it
    nothing,      ///< its request ended before it was sent, so no reply will arrive
    // The session's own commands, which belong to no sink.
    slots,             ///< CLUSTER SLOTS
    internal_channel,  ///< as channels
    repeated_release,  ///< a release that too few replicas confirmed
    wait,              ///< WAIT
    ping,              ///< PING
    listeners,         ///< PUBSUB NUMSUB
  };

  Request* request;  ///< null: the request has ended, only the reply is still to come
  Sink* sink;
  Clock::time_point deadline;
  std::uint64_t end;     ///< the position after its last byte in the stream of all commands
  std::uint64_t cursor;  ///< list: the page that is requested
  HoldId id;             ///< the request's, valid after the request has ended
  Verb verb;
  Kind kind;
  bool asking;                  ///< ASKING is sent before it
  bool alone;                   ///< a check that is not to be part of a batch
  bool confirmed;               ///< channels: a push has confirmed the change, or there is none
  std::uint8_t replies_before;  ///< of ASKING, or of CLIENT CACHING YES
  std::uint8_t replies_after;   ///< replies of a note's command that follow its own
  std::uint8_t hops;            ///< how many nodes have redirected it
  std::uint8_t batch;           ///< how many checks, this and the next ones, are one call
  std::uint16_t slot;           ///< check in a cluster: its key's slot; otherwise 0
  std::string error;            ///< channels: the server's error
  Channels changed;             ///< channels and internal_channel, once it was written

  void start(Request& from, Sink& receiver, Clock::time_point until) noexcept {
    const bool changes_channels = from.verb == Verb::subscribe || from.verb == Verb::unsubscribe;
    request = &from;
    sink = &receiver;
    id = from.id;
    reset(changes_channels ? Kind::channels : Kind::script, from.verb, until);
  }
  void start_internal(Kind what, Verb change, Clock::time_point until) noexcept {
    request = nullptr;
    sink = nullptr;
    id = {};
    reset(what, change, until);
  }
  [[nodiscard]] bool is_internal() const noexcept { return kind >= Kind::slots; }
  /// Whether it can be sent together with other checks.
  [[nodiscard]] bool can_join_batch() const noexcept {
    return request != nullptr && is_check(verb) && !request->recall && !asking && !alone;
  }
  /// Whether one call can carry out both: each can join a batch.
  [[nodiscard]] bool joins(const InFlightCommand& other) const noexcept {
    return kind == other.kind && slot == other.slot;
  }

  /// Whether the reply is the error of SUBSCRIBE or UNSUBSCRIBE, and not that of the PING after it.
  ///
  /// A confirmed change is answered by pushes only, so an error before the PING's reply belongs to
  /// the change. If PING is forbidden too there are two errors, of which the first belongs to the
  /// change. No node redirects a PING.
  [[nodiscard]] bool is_channel_error(const redisReply& reply) const noexcept {
    if (reply.type != REDIS_REPLY_ERROR || !error.empty()) return false;
    const std::string_view text(reply.str, reply.len);
    return !confirmed || text.starts_with("MOVED") || text.starts_with("CLUSTERDOWN");
  }

 private:
  void reset(Kind what, Verb of, Clock::time_point until) noexcept {
    kind = what;
    verb = of;
    deadline = until;
    end = cursor = 0;
    asking = alone = confirmed = false;
    replies_before = replies_after = hops = 0;
    batch = 1;
    slot = 0;
    error.clear();
  }
};

/// Commands in the order in which they are sent and their replies arrive. Pure; one thread at a
/// time.
///
/// A command is written once a connection is up. It stays queued until its reply has arrived, also
/// if its request ended at its deadline.
class CommandPipeline {
 public:
  using TimePoint = Clock::time_point;
  /// Which bytes may be sent on the connection now.
  enum class Lane : std::uint8_t { closed, handshake, commands };
  /// Which command a reply belongs to.
  enum class ReplyFor : std::uint8_t {
    front,       ///< the oldest one
    nobody,      ///< ASKING or a note: the reply is dropped
    unexpected,  ///< there is no command that it could belong to
  };

  // --- the queue ---
  /// The next `more` commands need no memory. Throws std::bad_alloc.
  void reserve(std::size_t more) { queue_.reserve(more); }
  InFlightCommand& push() { return queue_.push(); }
  void pop() noexcept;
  /// Moves the oldest command to the end, to be written anew. `alone`: in no batch. Needs no
  /// memory.
  void requeue_front(InFlightCommand::Kind kind, std::uint64_t cursor, bool alone = false) noexcept;
  [[nodiscard]] InFlightCommand& front() noexcept { return queue_[0]; }
  [[nodiscard]] const InFlightCommand& front() const noexcept { return queue_[0]; }
  [[nodiscard]] std::size_t size() const noexcept { return queue_.size(); }
  [[nodiscard]] bool has_live_requests() const noexcept { return first_live_ < queue_.size(); }
  [[nodiscard]] bool awaits_reply() const noexcept { return written_ > 0; }
  /// Whether a release of the hold that the oldest command acquires is queued after it.
  [[nodiscard]] bool front_is_overtaken() noexcept;
  void clear() noexcept;

  // --- writing ---
  /// The oldest command that is not written yet; null: there is none.
  [[nodiscard]] InFlightCommand* next_to_write() noexcept {
    return written_ < queue_.size() ? &queue_[written_] : nullptr;
  }
  [[nodiscard]] std::size_t unwritten_count() const noexcept { return queue_.size() - written_; }
  [[nodiscard]] bool has_unwritten() const noexcept { return unwritten_count() > 0; }
  /// Whether the newest command is a check that is not written, so that others may join it.
  [[nodiscard]] bool ends_with_check() const noexcept {
    return has_unwritten() && queue_[queue_.size() - 1].can_join_batch();
  }
  /// How many commands, from `next_to_write` on, one call can carry out; at least 1.
  [[nodiscard]] std::size_t batch_length() const noexcept;
  /// The command that is `offset` places behind `next_to_write`.
  [[nodiscard]] InFlightCommand& unwritten(std::size_t offset) noexcept {
    return queue_[written_ + offset];
  }
  /// Sorts the checks that are to be written next by their slots. Without memory their order stays.
  void group_checks_by_slot() noexcept;
  /// The command returned by `next_to_write` has all its bytes in the stream.
  void mark_written() noexcept { ++written_; }
  /// Where commands are appended.
  [[nodiscard]] CommandBuffer& stream() noexcept { return queued_; }
  /// Where the handshake is appended. Its bytes are no part of the stream.
  [[nodiscard]] CommandBuffer& handshake() noexcept { return handshake_; }
  /// The position after the last byte of the stream, since its beginning.
  [[nodiscard]] std::uint64_t stream_end() const noexcept;

  // --- sending ---
  /// The bytes stay in place until `sent` or `discard_bytes` is called.
  [[nodiscard]] std::string_view to_send(Lane lane) noexcept;
  [[nodiscard]] bool anything_to_send(Lane lane) const noexcept;
  void sent(std::size_t count) noexcept;
  [[nodiscard]] std::size_t unsent_bytes(bool handshake) const noexcept;
  /// Whether the oldest command was sent whole, so that the server works on it.
  [[nodiscard]] bool is_server_busy() const noexcept {
    return written_ > 0 && front().end <= sent_end_;
  }
  /// Bytes that the server has received after the command that it works on.
  [[nodiscard]] std::size_t server_backlog() const noexcept;

  // --- replies ---
  [[nodiscard]] ReplyFor match_reply() noexcept;
  /// Drops the oldest commands whose requests ended before they were sent (Kind::nothing).
  void drop_unsendable() noexcept;

  // --- the end of a connection ---
  void discard_bytes() noexcept;
  /// Takes the commands that were sent whole out of the queue and calls `end(command)` if their
  /// request still waits. All others are to be written again. After `discard_bytes`.
  template <class End>
  void drop_sent(End&& end) noexcept {
    while (written_ > 0 && (front().end <= sent_end_ || front().request == nullptr)) {
      if (front().request != nullptr) end(front());
      pop();
    }
    rewind();
  }
  /// Takes out the requests for which `moves(request)` holds. Without a connection only. Throws
  /// std::bad_alloc.
  template <class Moves>
  [[nodiscard]] std::vector<QueuedRequest> take_unsent(Moves&& moves);

  // --- deadlines ---
  /// While the connection is up: calls `end(command)` for each request that is overdue.
  template <class End>
  void expire_written(TimePoint now, End&& end) noexcept;
  /// While the connection is not up: calls `end(command)` for each request that is overdue.
  /// `deadline_of(command)` says when each one ends.
  template <class DeadlineOf, class End>
  void expire_waiting(TimePoint now, DeadlineOf&& deadline_of, End&& end) noexcept;
  /// `expire_waiting` has nothing to do before this time.
  void expect_expiry(TimePoint at) noexcept {
    if (at < waiting_expiry_) waiting_expiry_ = at;
  }
  /// Calls `visit(command)` for each request that waits.
  template <class Visit>
  void for_each_live(Visit&& visit) noexcept {
    for (std::size_t index = first_live_; index < queue_.size(); ++index) {
      if (queue_[index].request != nullptr) visit(queue_[index]);
    }
  }
  /// When the next request is overdue.
  [[nodiscard]] TimePoint next_expiry(bool is_up) const noexcept;

 private:
  void rewind() noexcept;
  void index_releases();

  RingQueue<InFlightCommand> queue_;
  std::size_t written_ = 0;     ///< how many are in the stream
  std::size_t first_live_ = 0;  ///< the requests of all before it have ended
  std::size_t indexed_ = 0;     ///< `released_` has the releases of so many of the oldest
  /// The holds that queued commands release. A server that has lost its scripts rejects all
  /// commands under way, and each one asks whether its hold is among these.
  std::unordered_set<HoldId, HashOfId> released_;
  std::uint8_t replies_to_skip_ = 0;
  TimePoint waiting_expiry_ = Clock::never();

  CommandBuffer handshake_, queued_, leaving_;
  bool leaving_is_handshake_ = false;
  std::uint64_t sent_end_ = 0;  ///< the position after the last byte of the stream that was sent
};

template <class Moves>
std::vector<QueuedRequest> CommandPipeline::take_unsent(Moves&& moves) {
  std::vector<QueuedRequest> taken;
  taken.reserve(queue_.size());
  for (std::size_t left = queue_.size(); left > 0; --left) {
    InFlightCommand& oldest = queue_[0];
    if (oldest.request != nullptr && moves(*oldest.request)) {
      taken.push_back({oldest.request, oldest.sink, oldest.deadline, oldest.hops});
      queue_.pop();
    } else {
      InFlightCommand kept = std::move(oldest);
      queue_.pop();
      if (kept.request != nullptr) queue_.push() = std::move(kept);
    }
  }
  written_ = first_live_ = indexed_ = 0;
  released_.clear();
  return taken;
}

template <class End>
void CommandPipeline::expire_written(TimePoint now, End&& end) noexcept {
  for (; first_live_ < queue_.size(); ++first_live_) {
    InFlightCommand& command = queue_[first_live_];
    if (command.request == nullptr) continue;
    if (now < command.deadline) return;
    end(command);
  }
}

// The deadlines of waiting requests are in no order.
template <class DeadlineOf, class End>
void CommandPipeline::expire_waiting(TimePoint now, DeadlineOf&& deadline_of, End&& end) noexcept {
  if (now < waiting_expiry_) return;
  waiting_expiry_ = Clock::never();
  for_each_live([&](InFlightCommand& command) {
    const TimePoint deadline = deadline_of(command);
    if (now >= deadline) {
      end(command);
    } else {
      expect_expiry(deadline);
    }
  });
}

}  // namespace latchkey::inline v1::detail::redis
