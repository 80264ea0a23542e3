// A command that waits to be sent or for its reply.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <latchkey/backend.hpp>

#include "redis/protocol/check_batch.hpp"
#include "redis/protocol/names.hpp"

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
  bool confirmed;               ///< channels: a push has confirmed the change
  std::uint8_t replies_before;  ///< replies of ASKING that precede its own
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
    return request != nullptr && is_check(verb) && !asking && !alone;
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

}  // namespace latchkey::inline v1::detail::redis
