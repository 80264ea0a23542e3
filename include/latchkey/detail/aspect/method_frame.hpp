// The arguments of a DECORATED whose body is a coroutine.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// Owns no arguments: the type of a call of the body with it says whether a frame could own them.
struct FrameCheck {
  /// `Declared` are the parameters' types as they are written.
  template <class... Declared, class Function>
  std::bool_constant<(!std::is_reference_v<Declared> && ...)> call(Function&&) const {
    return {};
  }
};

/// Owns the arguments, which the body takes when it is called.
template <class... Values>
class MethodFrame {
 public:
  explicit MethodFrame(std::tuple<Values...>& values) noexcept
      : MethodFrame(values, std::index_sequence_for<Values...>()) {}

  /// By address, as Addresses keeps them.
  [[nodiscard]] const void* const* addresses() const noexcept { return addresses_; }

  template <class... Declared, class Function>
  decltype(auto) call(Function&& function) const {
    return call_at<Declared...>(function, std::index_sequence_for<Declared...>());
  }

 private:
  template <std::size_t... Index>
  MethodFrame(std::tuple<Values...>& values, std::index_sequence<Index...>) noexcept
      : values_(values),
        addresses_{static_cast<const void*>(std::addressof(std::get<Index>(values)))..., nullptr} {}

  template <class... Declared, class Function, std::size_t... Index>
  decltype(auto) call_at(Function& function, std::index_sequence<Index...>) const {
    return function(static_cast<Declared&&>(std::get<Index>(values_))...);
  }

  std::tuple<Values...>& values_;
  const void* addresses_[sizeof...(Values) + 1];
};

/// Whether it is the body of a DECORATED: it takes the method's own arguments, or those of a frame
/// whose address it is called with.
template <class Body>
inline constexpr bool is_method_body = std::is_class_v<Body> && !requires { &Body::operator(); };

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
