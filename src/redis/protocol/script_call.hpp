// From a request of the seam to a command for Redis, and from the reply to its outcome.
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <cstdint>

#include <latchkey/backend.hpp>

#include "redis/protocol/command_buffer.hpp"
#include "redis/protocol/names.hpp"
#include "redis/protocol/scripts.hpp"

namespace latchkey::detail::redis {

/// What is the same for every command of a connection.
struct ChannelSettings {
  /// SPUBLISH instead of PUBLISH: only in a cluster whose servers offer it, where Redisson does the
  /// same. Subscribers use SSUBSCRIBE then; the two kinds do not hear each other.
  bool sharded_publish = false;
};

/// The script that carries out the request. Every verb has one but subscribe and unsubscribe
/// (SUBSCRIBE to channels_of).
[[nodiscard]] const Script& script_for(const Request& request) noexcept;

/// Appends the request as one EVALSHA. No heap for keys up to 64 bytes once the buffer is warm.
/// `cursor`: list only, which answers page by page: 0, then what `list_cursor` said, until that is
/// 0 again. The name must have passed refuse_name (a list's is a pattern: any will do).
void append_evalsha(CommandBuffer& buffer, const Request& request, const ChannelSettings& settings,
                    std::uint64_t cursor = 0);

/// The same with the script's text, where the server did not know its digest.
void append_eval(CommandBuffer& buffer, const Request& request, const ChannelSettings& settings,
                 std::uint64_t cursor = 0);

/// For a request with a note: appends the command that keeps the note beside the hold, prolongs it
/// or takes it away. False: its verb needs none, and no answer will come. What the server answers
/// is of no account.
bool append_note(CommandBuffer& buffer, const Request& request);

/// The server does not know the digest: nothing was done, ask again with append_eval.
[[nodiscard]] bool is_noscript(const redisReply& reply) noexcept;

/// What the reply means for the request; fills `info` of an inspect, appends to `names` of a list
/// (the last page sorts them and drops what came twice). Every reply has an outcome, also one that
/// no script gives. No heap for granted and gone. A reply of NOSCRIPT is `unknown`.
[[nodiscard]] Outcome read_outcome(const Request& request, const redisReply& reply);

/// An error in the server's own words, without what it says of the script that ran.
[[nodiscard]] std::string_view server_words(std::string_view error) noexcept;

/// The cursor of a list's next page; 0: this was the last one, or no page at all.
[[nodiscard]] std::uint64_t list_cursor(const redisReply& reply) noexcept;

}  // namespace latchkey::detail::redis
