// Looking at a reply.
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <span>
#include <string_view>

namespace latchkey::detail::redis {

/// Of a text, a status or an error; "" for all else.
[[nodiscard]] inline std::string_view text_of(const redisReply& reply) noexcept {
  return reply.str != nullptr ? std::string_view(reply.str, reply.len) : std::string_view();
}

/// Of an array; none for all else.
[[nodiscard]] inline std::span<redisReply* const> elements_of(const redisReply& reply) noexcept {
  if (reply.type != REDIS_REPLY_ARRAY) return {};
  return {reply.element, reply.elements};
}

}  // namespace latchkey::detail::redis
