// Memory for one reply at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace latchkey::detail::redis {

/// Gives memory that is taken back all at once. What small replies need is kept, what a large one
/// needed is returned to the system.
class ReplyArena {
 public:
  explicit ReplyArena(std::size_t most_bytes) noexcept : most_bytes_(most_bytes) {}

  /// Aligned for any object; null: no memory, or more than the limit.
  [[nodiscard]] void* allocate(std::size_t size) noexcept;

  /// All memory given so far is free again.
  void clear() noexcept;

 private:
  static constexpr std::size_t chunk_size = std::size_t{8} << 10;
  struct Chunk {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };

  std::vector<Chunk> chunks_;
  std::size_t used_ = 0;  // of the last chunk
  std::size_t total_ = 0;
  std::size_t most_bytes_;
};

}  // namespace latchkey::detail::redis
