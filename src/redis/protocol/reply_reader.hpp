// Parses the bytes that a Redis server sends.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "redis/protocol/reply_arena.hpp"

namespace latchkey::inline v1::detail::redis {

/// The parser of hiredis with an arena for its objects: a warm reader allocates nothing for a small
/// reply. Replies and pushes keep the order of their bytes, however the bytes are split. One thread
/// at a time.
class ReplyReader {
 public:
  /// The limit for one reply: for its bytes, and again for the objects made of them. A larger reply
  /// is a protocol error.
  static constexpr std::size_t most_bytes = std::size_t{256} << 20;

  /// Throws std::bad_alloc.
  ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;
  ~ReplyReader() = default;

  /// False: the bytes are malformed or exceed the limit; see error().
  bool feed(std::span<const char> bytes) noexcept;

  /// The next complete reply, valid until the next call of next, feed or reset. Null: there is none
  /// yet, or an error, after which no reply follows.
  [[nodiscard]] const redisReply* next() noexcept;

  /// Why no reply follows, as a clause; empty: there was no error.
  [[nodiscard]] std::string_view error() const noexcept;

  /// Drops all state, for a new stream. Throws std::bad_alloc.
  void reset();

 private:
  struct Free {
    void operator()(redisReader* reader) const noexcept;
  };

  ReplyArena arena_;
  std::unique_ptr<redisReader, Free> reader_;
};

}  // namespace latchkey::inline v1::detail::redis
