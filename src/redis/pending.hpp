// What was asked of a server and not yet answered.
#pragma once

#include <cstdint>
#include <string>

#include <latchkey/backend.hpp>

namespace latchkey::detail::redis {

/// One command, or one pair of SUBSCRIBE and PING: a place in the order in which answers come.
struct Pending {
  enum class Ask : std::uint8_t {
    script,       ///< EVALSHA
    script_text,  ///< EVAL, after NOSCRIPT
    channels,     ///< SUBSCRIBE or UNSUBSCRIBE, closed by the answer to a PING
    nothing,      ///< it was told its end before it was sent: no answer will come
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
  std::string refusal;  ///< channels: what the server had against it

  void start(Request& asked, Sink& teller, Clock::time_point until) noexcept {
    request = &asked;
    sink = &teller;
    deadline = until;
    end = cursor = 0;
    id = asked.id;
    verb = asked.verb;
    const bool listening = verb == Verb::subscribe || verb == Verb::unsubscribe;
    ask = listening ? Ask::channels : Ask::script;
    confirmed = noted = false;
    refusal.clear();
  }
};

}  // namespace latchkey::detail::redis
