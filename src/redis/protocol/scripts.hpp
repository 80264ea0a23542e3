// The Lua scripts of lua/, embedded by the build with their digests (cmake/LuaScripts.cmake).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <span>
#include <string_view>

namespace latchkey::inline v1::detail::redis {

/// A file of lua/ or lua/set/: `text` for EVAL, `sha1` for EVALSHA.
struct Script {
  std::string_view name;  ///< the file's, without ".lua"; set_… if it is in lua/set
  std::string_view text;
  std::string_view sha1;  ///< 40 lower-case hexadecimal digits
};

namespace scripts {

extern const Script acquire, acquire_all, acquire_fair, acquire_fenced, acquire_read, acquire_write;
extern const Script renew, renew_read, verify, verify_read, check_batch, downgrade;
extern const Script expire, expire_read, idle;
extern const Script release, release_fair, release_read, release_write, leave, leave_fair;
extern const Script latch_set, latch_down, latch_count, latch_delete;
extern const Script acquire_permits, renew_permits, verify_permits, expire_permits;
extern const Script release_permits, inspect_permits, resize_permits, destroy_permits;
extern const Script inspect, list, list_page, list_awaited, force_release, revoke, announce;

// For SET NX PX locks.
extern const Script set_acquire, set_acquire_all, set_acquire_fenced;
extern const Script set_renew, set_verify, set_check_batch, set_expire, set_release;
extern const Script set_inspect, set_list, set_list_page, set_force_release, set_announce;

/// Every script.
[[nodiscard]] std::span<const Script* const> all() noexcept;

}  // namespace scripts
}  // namespace latchkey::inline v1::detail::redis
