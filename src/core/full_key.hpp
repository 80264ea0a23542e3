// The key of a lock as the backend sees it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include <latchkey/error.hpp>

namespace latchkey::inline v1::detail {

inline constexpr std::size_t longest_key = 1024;

/// The prefix and a key, joined without the heap. Throws KeyError for a bad key.
class FullKey {
 public:
  FullKey(std::string_view prefix, std::string_view key) {
    check(prefix, key);
    if (prefix.empty()) {
      view_ = key;
      return;
    }
    std::memcpy(bytes_.data(), prefix.data(), prefix.size());
    std::memcpy(bytes_.data() + prefix.size(), key.data(), key.size());
    view_ = std::string_view(bytes_.data(), prefix.size() + key.size());
  }

  [[nodiscard]] std::string_view view() const noexcept { return view_; }

  static void check(std::string_view prefix, std::string_view key) {
    if (key.empty() || prefix.size() + key.size() > longest_key) [[unlikely]] {
      refuse(prefix, key);
    }
  }

 private:
  [[noreturn, gnu::noinline]] static void refuse(std::string_view prefix, std::string_view key) {
    if (key.empty()) throw KeyError("a key has at least 1 byte: this one is empty");
    throw KeyError("a key has at most 1024 bytes: '" + std::string(key.substr(0, 32)) +
                   "...' has " + std::to_string(prefix.size() + key.size()));
  }

  std::array<char, longest_key> bytes_;  // NOLINT: only what view_ shows is ever written or read
  std::string_view view_;
};

/// Calls `use` with the prefix and the key, joined. Without a prefix this needs no buffer.
template <class Use>
auto with_full_key(std::string_view prefix, std::string_view key, const Use& use) {
  if (prefix.empty()) [[likely]] {
    FullKey::check(prefix, key);
    return use(key);
  }
  const auto join = [&]() __attribute__((noinline)) {
    const FullKey full(prefix, key);
    return use(full.view());
  };
  return join();
}

}  // namespace latchkey::inline v1::detail
