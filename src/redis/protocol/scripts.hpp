// The Lua scripts of lua/, embedded by the build with their digests (cmake/LuaScripts.cmake).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <span>
#include <string_view>

namespace latchkey::inline v1::detail::redis {

/// A file of lua/: `text` for EVAL, `sha1` for EVALSHA.
struct Script {
  std::string_view name;  ///< the file's, without ".lua"
  std::string_view text;
  std::string_view sha1;  ///< 40 lower-case hexadecimal digits
};

namespace scripts {

extern const Script acquire, acquire_all, acquire_fair, acquire_fenced, acquire_read, acquire_write;
extern const Script renew, renew_read, verify, verify_read, check_batch, downgrade;
extern const Script expire, expire_read;
extern const Script release, release_fair, release_read, release_write, leave, leave_fair;
extern const Script inspect, list, list_page, list_awaited, force_release, announce;

/// Every file of lua/, sorted by name.
[[nodiscard]] std::span<const Script* const> all() noexcept;

}  // namespace scripts
}  // namespace latchkey::inline v1::detail::redis
