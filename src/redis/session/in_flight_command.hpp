// What was asked of a server and not yet answered.
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <latchkey/backend.hpp>

namespace latchkey::detail::redis {

/// One command, or one pair of SUBSCRIBE and PING: a place in the order in which answers come.
struct InFlightCommand {
  enum class Ask : std::uint8_t {
    script,       ///< EVALSHA
    script_text,  ///< EVAL, after NOSCRIPT
    channels,     ///< SUBSCRIBE or UNSUBSCRIBE, closed by the answer to a PING
    nothing,      ///< it was told its end before it was sent: no answer will come
    // the link's own, of which no sink is told
    slots,        ///< CLUSTER SLOTS
    own_channel,  ///< as channels
    release,      ///< of a hold that was released
    replicas,     ///< WAIT
    ping,
  };

  Request* request;  ///< null: it was told its end, only the answer is still to come
  Sink* sink;
  Clock::time_point deadline;
  std::uint64_t end;     ///< where its last byte lies in the stream of all bytes
  std::uint64_t cursor;  ///< list: the page that is asked for
  HoldId id;             ///< the request's, also when that is gone
  Verb verb;
  Ask ask;
  bool confirmed;       ///< channels: the server has said so by a push
  bool noted;           ///< the answer to a note follows its own
  bool asking;          ///< ASKING goes before it
  bool introduced;      ///< ASKING was answered
  std::uint8_t hops;    ///< how many nodes sent it on
  std::string refusal;  ///< channels: what the server had against it
  std::string channel;  ///< own_channel

  void start(Request& asked, Sink& teller, Clock::time_point until) noexcept {
    request = &asked;
    sink = &teller;
    deadline = until;
    id = asked.id;
    verb = asked.verb;
    const bool listening = verb == Verb::subscribe || verb == Verb::unsubscribe;
    ask = listening ? Ask::channels : Ask::script;
    clear();
  }
  void start_own(Ask what, Verb change, Clock::time_point until) noexcept {
    request = nullptr;
    sink = nullptr;
    deadline = until;
    id = {};
    verb = change;
    ask = what;
    clear();
  }
  void clear() noexcept {
    end = cursor = 0;
    confirmed = noted = asking = introduced = false;
    hops = 0;
    refusal.clear();
  }
  [[nodiscard]] bool is_own() const noexcept { return ask >= Ask::slots; }

  /// channels: the reply is an error of SUBSCRIBE or UNSUBSCRIBE, not of the PING behind it. Pushes
  /// confirm; an error before the PING's answer is about the channels, and so is the first of two
  /// errors where PING is not permitted. A PING is never sent to another node.
  [[nodiscard]] bool is_about_channels(const redisReply& reply) const noexcept {
    if (reply.type != REDIS_REPLY_ERROR || !refusal.empty()) return false;
    const std::string_view text(reply.str, reply.len);
    return !confirmed || text.starts_with("MOVED") || text.starts_with("CLUSTERDOWN");
  }
};

}  // namespace latchkey::detail::redis
