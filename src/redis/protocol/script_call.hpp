// Encodes requests as commands for Redis, and decodes replies as outcomes.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <cstdint>

#include <latchkey/backend.hpp>

#include "redis/protocol/command_buffer.hpp"
#include "redis/protocol/layout.hpp"
#include "redis/protocol/names.hpp"
#include "redis/protocol/scripts.hpp"

namespace latchkey::inline v1::detail::redis {

/// Settings that all commands of a connection share.
struct CallSettings {
  const Layout* layout = &redisson_layout;
  /// Publish with SPUBLISH instead of PUBLISH, as Redisson does in a cluster that has it.
  /// Subscribers use SSUBSCRIBE then: SUBSCRIBE does not receive sharded messages.
  bool sharded_publish = false;
  /// In a cluster with PUBLISH a node does not know who listens at the others.
  bool in_cluster = false;
};

/// The script that carries out the request. Not for subscribe and unsubscribe, which have none.
[[nodiscard]] const Script& script_for(const Request& request,
                                       const Layout& layout = redisson_layout) noexcept;

/// Appends the request as one EVALSHA. A warm buffer allocates nothing for keys up to 64 bytes.
/// `cursor` selects the page of a `list`: 0, then the result of `list_cursor` until that is 0
/// again. The key must have passed refuse_name, except for the pattern of a `list`.
void append_evalsha(CommandBuffer& buffer, const Request& request, const CallSettings& settings,
                    std::uint64_t cursor = 0);

/// Appends the request as one EVAL with the script's text, after NOSCRIPT.
void append_eval(CommandBuffer& buffer, const Request& request, const CallSettings& settings,
                 std::uint64_t cursor = 0);

/// For a request with a note: appends the command that stores, extends or deletes the note of the
/// hold. Its reply is to be dropped. False: the verb needs no such command.
bool append_note(CommandBuffer& buffer, const Request& request,
                 const Layout& layout = redisson_layout);

/// Whether the server does not know the script: nothing was done, and append_eval is to follow.
[[nodiscard]] bool is_noscript(const redisReply& reply) noexcept;

/// The outcome of the request. Fills `info` of an inspect and appends to `names` of a list, which
/// the last page sorts and frees of duplicates. Every reply has an outcome, also one that no script
/// returns. `granted` and `gone` allocate nothing. NOSCRIPT is `unknown`.
[[nodiscard]] Outcome read_outcome(const Request& request, const redisReply& reply,
                                   const Layout& layout = redisson_layout);

/// The text of an error without the position in the script.
[[nodiscard]] std::string_view server_words(std::string_view error) noexcept;

/// The cursor of the next page of a `list`; 0: this was the last one.
[[nodiscard]] std::uint64_t list_cursor(const redisReply& reply) noexcept;

}  // namespace latchkey::inline v1::detail::redis
