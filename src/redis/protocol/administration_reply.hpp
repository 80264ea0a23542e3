// Decodes the replies of inspect and list.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <latchkey/backend.hpp>

namespace latchkey::inline v1::detail::redis {

/// Fills `info`. False: no script returns such a reply.
[[nodiscard]] bool read_info(const redisReply& reply, LockInfo& info);

/// Fills `info` of a semaphore. False: no script returns such a reply.
[[nodiscard]] bool read_permits(const redisReply& reply, LockInfo& info);

/// Appends to `names`, and fills the `part` if there is one. The last page of a whole listing sorts
/// the names and removes duplicates. False: no script returns such a reply.
[[nodiscard]] bool read_names(const redisReply& reply, const Request& request);

}  // namespace latchkey::inline v1::detail::redis
