// Memory for one reply at a time.
#include "redis/protocol/reply_arena.hpp"

#include <algorithm>
#include <new>

namespace latchkey::detail::redis {

void* ReplyArena::allocate(std::size_t size) noexcept {
  constexpr std::size_t alignment = alignof(std::max_align_t);
  if (size > most_bytes_ - total_) return nullptr;
  size = (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  if (chunks_.empty() || size > chunks_.back().size - used_) {
    const std::size_t wanted = std::max(size, chunk_size);
    try {
      chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(wanted), wanted});
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    used_ = 0;
  }
  void* const given = chunks_.back().bytes.get() + used_;
  used_ += size;
  total_ = std::min(total_ + size, most_bytes_);
  return given;
}

void ReplyArena::clear() noexcept {
  if (chunks_.size() > 1) {
    // The first one is of the usual size unless the very first object was larger.
    chunks_.resize(chunks_.front().size == chunk_size ? 1 : 0);
  }
  used_ = total_ = 0;
}

}  // namespace latchkey::detail::redis
