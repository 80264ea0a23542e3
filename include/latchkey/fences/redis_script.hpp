// The guard in Redis: a script that any client can run.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <string>
#include <string_view>

#include <latchkey/fence.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::redis {

/// The text of a script, for EVAL, that runs one command unless a higher token was seen. Its KEYS
/// are the fence_key() and the keys of the command; its ARGV are the token, the name of the
/// command, and the command's other words.
///
/// The reply is the command's own, or the error `STALEFENCE <highest token>`. run_fenced() of
/// latchkey/fences/redis.hpp sends it by hiredis.
[[nodiscard]] std::string_view fence_script() noexcept;

/// The key that keeps the highest token: `latchkey_seen_fence:{key}`, or without the braces if the
/// key has some. In a cluster the script can only use it beside keys of the same slot, so a lock
/// `{order:42}` or `order:42` guards `{order:42}:total`.
[[nodiscard]] std::string fence_key(const Fence& fence);

namespace detail {

/// Throws FenceRejected if the text of an error reply is that of an old fence, and otherwise Error.
[[noreturn]] void fence_refused(const Fence& fence, std::string_view reply);
/// Throws Error: no reply came, so the command may have run or not.
[[noreturn]] void fence_without_reply(const Fence& fence, std::string_view reason);

}  // namespace detail

}  // namespace latchkey::inline v1::redis
#pragma GCC visibility pop
