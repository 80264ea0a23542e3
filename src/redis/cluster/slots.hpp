// Which node of a cluster has which keys.
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "redis/uri/redis_uri.hpp"

namespace latchkey::detail::redis {

inline constexpr std::size_t slot_count = 16'384;

/// The slot of a key or of a sharded channel: CRC16 (XMODEM) of what stands between its first `{`
/// and the next `}` behind that, or of all of it where nothing does (Redis cluster specification).
[[nodiscard]] std::uint16_t slot_of(std::string_view key) noexcept;

/// What CLUSTER SLOTS says.
struct SlotMap {
  struct Range {
    std::uint16_t first, last;  ///< both belong to it
    RedisUri::Endpoint master;
  };

  std::vector<Range> ranges;
  std::vector<RedisUri::Endpoint> replicas;
};

/// `from` is where the answer came from: a node that does not know its own address leaves it out.
/// Empty: this is no answer to CLUSTER SLOTS.
[[nodiscard]] std::optional<SlotMap> read_slots(const redisReply& reply,
                                                const RedisUri::Endpoint& from);

/// What a node says that does not serve a key.
struct Redirect {
  enum class Kind : std::uint8_t {
    none,
    moved,  ///< `place` has the slot from now on
    ask,    ///< `place` has it for this one command, behind ASKING
    later,  ///< the slot is on its way, or nobody has it just now
  };

  Kind kind = Kind::none;
  std::uint16_t slot = 0;
  RedisUri::Endpoint place;
};

/// `from` as above. An error that is no redirection is Kind::none.
[[nodiscard]] Redirect read_redirect(std::string_view error, const RedisUri::Endpoint& from);

}  // namespace latchkey::detail::redis
