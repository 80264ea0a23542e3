// Reports to ThreadSanitizer the order that locks establish between threads.
// SPDX-License-Identifier: BSL-1.0
#include "core/thread_order.hpp"

#include <cstddef>

#include "core/key_table.hpp"

namespace latchkey::inline v1::detail {
namespace {

// Addresses for the sanitizer; nothing reads or writes them.
struct Place {
  std::byte written;
  std::byte read;
};
constinit Place places[4096]{};

Place& place_of(std::string_view key) noexcept { return places[hash_key(key) % 4096]; }

}  // namespace

void annotate_grant(std::string_view key, LockType type) noexcept {
  Place& place = place_of(key);
  __tsan_acquire(&place.written);
  if (type != LockType::READ) __tsan_acquire(&place.read);
}

void annotate_release(std::string_view key, LockType type) noexcept {
  Place& place = place_of(key);
  __tsan_release(type == LockType::READ ? &place.read : &place.written);
}

}  // namespace latchkey::inline v1::detail
