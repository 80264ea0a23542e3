// The guard in Redis: its key, and the errors of its replies.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/fences/redis_script.hpp>

#include <cstdint>

#include <latchkey/error.hpp>

#include "core/text/number.hpp"
#include "core/text/printable.hpp"

namespace latchkey::inline v1::redis {

std::string fence_key(const Fence& fence) {
  const bool braced = fence.key.find('{') != std::string::npos;
  std::string name = "latchkey_seen_fence:";
  name += braced ? "" : "{";
  name += fence.key;
  name += braced ? "" : "}";
  return name;
}

namespace detail {

void fence_refused(const Fence& fence, std::string_view reply) {
  constexpr std::string_view stale = "STALEFENCE ";
  std::uint64_t highest = 0;
  if (reply.starts_with(stale) &&
      latchkey::detail::read_number(reply.substr(stale.size()), highest)) {
    throw FenceRejected(fence.key, fence.token, highest);
  }
  throw Error("the command under the fence " + fence.text() +
              " was refused: " + latchkey::detail::printable(reply));
}

void fence_without_reply(const Fence& fence, std::string_view reason) {
  throw Error("the command under the fence " + fence.text() +
              " had no reply, so it may have run: " + latchkey::detail::printable(reason));
}

}  // namespace detail
}  // namespace latchkey::inline v1::redis
