// Rendered keys that are too many for the place inside the object.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/detail/key/rendered_keys.hpp>

namespace latchkey::inline v1::detail {

KeyBuffer& RenderedKeys::add_to_many() {
  KeyBuffer& added = many_.emplace_back();
  ++size_;
  return added;
}

std::span<const std::string_view> RenderedKeys::view_many() {
  all_views_.assign(views_.begin(), views_.end());
  for (const KeyBuffer& key : many_) all_views_.push_back(key.view());
  return all_views_;
}

std::vector<std::string> RenderedKeys::strings() {
  const std::span<const std::string_view> keys = view();
  return {keys.begin(), keys.end()};
}

}  // namespace latchkey::inline v1::detail
