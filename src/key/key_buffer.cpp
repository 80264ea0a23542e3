// The heap storage of KeyBuffer.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/key_buffer.hpp>

#include <algorithm>

namespace latchkey::inline v1 {

bool KeyBuffer::grow(std::size_t count) {
  // A number requests more room than it needs, so the limit allows for that; size() finds keys that
  // are really too long.
  constexpr std::size_t most = max_key_size + 32;
  if (count > most - size_) {
    overflowed_ = true;
    return false;
  }
  const std::size_t capacity = std::min(most, std::max(size_ + count, capacity_ * 2));
  char* const larger = new char[capacity];
  std::memcpy(larger, data_, size_);
  if (data_ != inline_) delete[] data_;
  data_ = larger;
  capacity_ = capacity;
  return true;
}

}  // namespace latchkey::inline v1
