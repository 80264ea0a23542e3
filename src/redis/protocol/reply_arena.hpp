// Memory for one reply at a time.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>

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

}  // namespace latchkey::inline v1::detail::redis
