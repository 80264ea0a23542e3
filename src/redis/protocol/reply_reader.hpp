// Bytes from a Redis server in, replies out.
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "redis/protocol/reply_arena.hpp"

namespace latchkey::detail::redis {

/// hiredis's parser over an arena of our own: after warm-up a small reply costs no allocation.
/// Replies and pushes come out in the order of their bytes, however those were cut. One thread at a
/// time.
class ReplyReader {
 public:
  /// One reply may be as large as this, in bytes received and again in objects made of it; what is
  /// larger is a stream gone wrong.
  static constexpr std::size_t most_bytes = std::size_t{256} << 20;

  /// Throws std::bad_alloc.
  ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;
  ~ReplyReader() = default;

  /// False: there is no sense in these bytes, or no room for them; see error().
  bool feed(std::span<const char> bytes) noexcept;

  /// The next whole reply, good until the next call of next, feed or reset; null: none yet, or an
  /// error from which there is no way on.
  [[nodiscard]] const redisReply* next() noexcept;

  /// Why nothing comes any more, as a clause; empty: nothing is wrong.
  [[nodiscard]] std::string_view error() const noexcept;

  /// Forgets everything, for a new stream. Throws std::bad_alloc.
  void reset();

 private:
  struct Free {
    void operator()(redisReader* reader) const noexcept;
  };

  ReplyArena arena_;
  std::unique_ptr<redisReader, Free> reader_;
};

}  // namespace latchkey::detail::redis
