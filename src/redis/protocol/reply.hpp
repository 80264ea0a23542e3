// Replies as values: texts, owners, times, and the results of administration.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <latchkey/backend.hpp>

namespace latchkey::inline v1::detail::redis {

/// The text of a string, a status or an error; "" for other types.
[[nodiscard]] inline std::string_view text_of(const redisReply& reply) noexcept {
  return reply.str != nullptr ? std::string_view(reply.str, reply.len) : std::string_view();
}

/// The elements of an array; none for other types.
[[nodiscard]] inline std::span<redisReply* const> elements_of(const redisReply& reply) noexcept {
  if (reply.type != REDIS_REPLY_ARRAY) return {};
  return {reply.element, reply.elements};
}

/// The owner in the field of a lock; that of a WRITE is `owner:write`.
[[nodiscard]] inline std::string owner_of(const redisReply& reply) {
  std::string_view text = text_of(reply);
  if (constexpr std::string_view mark = ":write"; text.ends_with(mark)) {
    text.remove_suffix(mark.size());
  }
  return std::string(text);
}

/// A time in ms, at least 1; negative numbers mean that it has no end. More than 100 years are 100
/// years: a time in ns has no room for 300.
[[nodiscard]] inline std::optional<std::chrono::milliseconds> time_left(long long left) noexcept {
  constexpr long long most = std::chrono::milliseconds(std::chrono::years(100)).count();
  if (left < 0) return std::nullopt;
  return std::chrono::milliseconds(std::clamp(left, 1LL, most));
}

/// Fills `info`. False: no script returns such a reply.
[[nodiscard]] bool read_info(const redisReply& reply, LockInfo& info);

/// Fills `info` of a semaphore. False: no script returns such a reply.
[[nodiscard]] bool read_permits(const redisReply& reply, LockInfo& info);

/// Appends to `names`, and fills the `part` if there is one. The last page of a whole listing sorts
/// the names and removes duplicates. False: no script returns such a reply.
[[nodiscard]] bool read_names(const redisReply& reply, const Request& request);

}  // namespace latchkey::inline v1::detail::redis
