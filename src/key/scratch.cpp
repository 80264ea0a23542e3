// Storage for texts that must outlive the getters that returned them.
// SPDX-License-Identifier: BSL-1.0
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <latchkey/detail/key/value.hpp>

namespace latchkey::inline v1::detail {

struct Scratch::Block {
  std::string text;
  Block* next;
};

std::string_view Scratch::keep(std::string_view text) {
  if (text.size() <= sizeof inline_ - used_) {
    char* const place = inline_ + used_;
    std::memcpy(place, text.data(), text.size());
    used_ += text.size();
    return {place, text.size()};
  }
  blocks_ = new Block{std::string(text), blocks_};
  return blocks_->text;
}

void Scratch::release() noexcept {
  while (blocks_ != nullptr) delete std::exchange(blocks_, blocks_->next);
}

}  // namespace latchkey::inline v1::detail
