// Hash slots of a cluster: which key has which, and which node serves it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "redis/uri/redis_uri.hpp"

namespace latchkey::inline v1::detail::redis {

inline constexpr std::size_t slot_count = 16'384;

/// The slot of a key or of a sharded channel: CRC16 (XMODEM) of the text between the first `{` and
/// the next `}`, or of the whole key if there is no such text (Redis cluster specification).
[[nodiscard]] std::uint16_t slot_of(std::string_view key) noexcept;

/// The reply to CLUSTER SLOTS.
struct SlotMap {
  struct Range {
    std::uint16_t first, last;  ///< both inclusive
    RedisUri::Endpoint master;
  };

  std::vector<Range> ranges;
  std::vector<RedisUri::Endpoint> replicas;
};

/// `from` is the node that replied: a node that does not know its own address omits it. Empty: the
/// reply is malformed.
[[nodiscard]] std::optional<SlotMap> read_slots(const redisReply& reply,
                                                const RedisUri::Endpoint& from);

/// The error of a node that does not serve a key.
struct Redirect {
  enum class Kind : std::uint8_t {
    none,
    moved,  ///< `endpoint` serves the slot from now on
    ask,    ///< `endpoint` serves this one command, after ASKING
    later,  ///< no node serves the slot now
  };

  Kind kind = Kind::none;
  std::uint16_t slot = 0;
  RedisUri::Endpoint endpoint;
};

/// `from` is the node that replied. Other errors are Kind::none.
[[nodiscard]] Redirect read_redirect(std::string_view error, const RedisUri::Endpoint& from);

}  // namespace latchkey::inline v1::detail::redis
