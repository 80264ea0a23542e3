// A string that is empty most of the time.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace latchkey::inline v1::detail {

/// A single null pointer while empty: cheaper to construct and to destroy than a std::string, which
/// matters in an uncontended call. If memory is exhausted it stays empty.
class LazyString {
 public:
  LazyString() noexcept = default;

  LazyString& operator=(std::string&& text) noexcept {
    if (text.empty()) {
      text_.reset();
    } else if (text_ != nullptr) {
      *text_ = std::move(text);
    } else {
      text_.reset(new (std::nothrow) std::string(std::move(text)));
    }
    return *this;
  }

  LazyString& operator=(std::string_view text) noexcept {
    try {
      return *this = std::string(text);
    } catch (const std::bad_alloc&) {
      text_.reset();
      return *this;
    }
  }
  LazyString& operator=(const char* text) noexcept { return *this = std::string_view(text); }

  [[nodiscard]] bool empty() const noexcept { return text_ == nullptr; }
  [[nodiscard]] std::string_view view() const noexcept {
    return text_ == nullptr ? std::string_view() : std::string_view(*text_);
  }
  // NOLINTNEXTLINE(google-explicit-constructor): it is a text
  operator std::string_view() const noexcept { return view(); }

 private:
  std::unique_ptr<std::string> text_;
};

}  // namespace latchkey::inline v1::detail
