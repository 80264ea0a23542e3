// The result of one attempt to read, write or connect.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "redis/failure.hpp"

namespace latchkey::inline v1::detail::redis {

struct Io {
  enum class Kind : std::uint8_t {
    moved,    ///< `count` bytes
    blocked,  ///< nothing now: poll for the events that the transport wants
    ended,    ///< the peer has closed the connection
    broken,   ///< see `failure`
  };

  static Io moved(std::size_t count) noexcept { return {Kind::moved, count, {}}; }
  static Io blocked() noexcept { return {Kind::blocked, 0, {}}; }
  static Io ended() noexcept { return {Kind::ended, 0, {}}; }
  static Io broken(Failure why) noexcept { return {Kind::broken, 0, std::move(why)}; }

  Kind kind;
  std::size_t count;
  Failure failure;
};

}  // namespace latchkey::inline v1::detail::redis
