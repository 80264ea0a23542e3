// Whether libzookeeper can read what the server sent.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace latchkey::inline v1::detail::zookeeper {

/// The contents of the reply to an operation that has succeeded, after the reply's header.
enum class ReplyShape : std::uint8_t {
  nothing,
  text,      ///< sync
  stat,      ///< exists
  created,   ///< create: a path and a stat
  data,      ///< get
  children,  ///< names
  checked,   ///< the results of one step that returns nothing
  replaced,  ///< the results of a deletion and a creation
};

/// A message of the server begins with its length, in four bytes.
inline constexpr std::size_t length_size = 4;
/// A longer message is not read.
inline constexpr std::size_t longest_message = std::size_t{64} << 20;
/// A longer message is checked as far as its first bytes go, and only replies that contain nodes or
/// data are as long.
inline constexpr std::size_t longest_whole_message = std::size_t{32} << 10;

/// The length that these four bytes say; 0: no message can have it.
[[nodiscard]] std::size_t message_length(std::string_view bytes) noexcept;

/// libzookeeper takes what it reads without a check: it dereferences what a short message lacks,
/// and asserts that a reply belongs to a request. `message`: without its length; whole, or the
/// first `longest_whole_message` bytes of one that is `length` long. `awaited`: what the oldest
/// operation without a reply expects; null: there is none.
[[nodiscard]] bool is_readable(std::string_view message, std::size_t length,
                               const ReplyShape* awaited) noexcept;

}  // namespace latchkey::inline v1::detail::zookeeper
