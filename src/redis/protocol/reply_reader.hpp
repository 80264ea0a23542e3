// Parses the bytes of a server into replies.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>

namespace latchkey::inline v1::detail::redis {

/// Allocates memory that is freed all at once. Small replies fit into a buffer of its own; the
/// memory of large ones returns to the system.
class ReplyArena {
 public:
  explicit ReplyArena(std::size_t most_bytes) noexcept : most_bytes_(most_bytes) {}
  ReplyArena(const ReplyArena&) = delete;
  ReplyArena& operator=(const ReplyArena&) = delete;
  ~ReplyArena() = default;

  /// Aligned for any object. Null: there is no memory, or the limit is reached.
  [[nodiscard]] void* allocate(std::size_t size) noexcept;

  /// Frees all memory.
  void clear() noexcept;

 private:
  alignas(std::max_align_t) std::array<std::byte, std::size_t{8} << 10> first_;
  std::pmr::monotonic_buffer_resource memory_{first_.data(), first_.size()};
  std::size_t allocated_ = 0;
  std::size_t most_bytes_;
};

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
