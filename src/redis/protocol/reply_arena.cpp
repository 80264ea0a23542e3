// Memory for one reply at a time.
// SPDX-License-Identifier: BSL-1.0
#include "redis/protocol/reply_arena.hpp"

#include <new>

namespace latchkey::inline v1::detail::redis {

void* ReplyArena::allocate(std::size_t size) noexcept {
  if (size > most_bytes_ - allocated_) return nullptr;
  try {
    void* const memory = memory_.allocate(size, alignof(std::max_align_t));
    allocated_ += size;
    return memory;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void ReplyArena::clear() noexcept {
  memory_.release();
  allocated_ = 0;
}

}  // namespace latchkey::inline v1::detail::redis
