// Access to the parts of a reply.
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <span>
#include <string_view>

namespace latchkey::detail::redis {

/// The text of a string, a status or an error; "" for other types.
[[nodiscard]] inline std::string_view text_of(const redisReply& reply) noexcept {
  return reply.str != nullptr ? std::string_view(reply.str, reply.len) : std::string_view();
}

/// The elements of an array; none for other types.
[[nodiscard]] inline std::span<redisReply* const> elements_of(const redisReply& reply) noexcept {
  if (reply.type != REDIS_REPLY_ARRAY) return {};
  return {reply.element, reply.elements};
}

}  // namespace latchkey::detail::redis
