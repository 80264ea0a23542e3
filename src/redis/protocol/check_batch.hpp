// Encodes several renewals and verifications as one call, and decodes its reply.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <cstdint>
#include <span>

#include <latchkey/backend.hpp>

#include "redis/protocol/check_answers.hpp"
#include "redis/protocol/command_buffer.hpp"
#include "redis/protocol/layout.hpp"

namespace latchkey::inline v1::detail::redis {

/// Whether the verb is a check: it can be one of several in a batch.
[[nodiscard]] constexpr bool is_check(Verb verb) noexcept {
  return verb == Verb::renew || verb == Verb::verify;
}

/// Appends at most CheckAnswers::most checks as one EVALSHA, or EVAL if `with_text`. In a cluster
/// all keys have one slot. A warm buffer allocates nothing.
void append_check_batch(CommandBuffer& buffer, std::span<const Request* const> requests,
                        bool with_text, const Layout& layout = redisson_layout);

/// Appends the commands after which the server tells of the next change of the keys of those
/// requests that ask for it. Returns how many commands: none if no request does.
std::uint8_t append_watch(CommandBuffer& buffer, std::span<const Request* const> requests);
/// For one request, or none. It is no use for a request after ASKING: the next change of its key is
/// that it moves.
inline std::uint8_t append_watch(CommandBuffer& buffer, const Request* request) {
  if (request == nullptr) return 0;
  return append_watch(buffer, std::span(&request, 1));
}

/// The answers of the reply. All are unclear if the server rejected the call.
[[nodiscard]] CheckAnswers read_check_answers(const redisReply& reply) noexcept;

}  // namespace latchkey::inline v1::detail::redis
