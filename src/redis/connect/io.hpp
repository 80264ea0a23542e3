// What became of one attempt to move bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "redis/failure.hpp"

namespace latchkey::detail::redis {

struct Io {
  enum class Kind : std::uint8_t {
    moved,    ///< so many bytes
    blocked,  ///< none now; poll for what the transport wants
    ended,    ///< the other side has closed
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

}  // namespace latchkey::detail::redis
