// The options of a LOCKED whose types determine what is compiled: a list with one type for each.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <stop_token>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <latchkey/detail/locked/condition.hpp>
#include <latchkey/fixed_string.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/strategy.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

class Locks;

namespace detail {

/// Each enumerator is named after the member of LockOptions that sets it; permits: or forbids it.
enum class Setting : std::size_t {
  in,
  when,
  named,
  on_timeout,
  on_unavailable,
  on_lost,
  no_throw,
  cancel_with,
  permits,
  on_unconfirmed_release,
};

/// The default Locks.
struct InstalledLocks {
  [[nodiscard]] static const Locks* get() noexcept { return nullptr; }
};
struct BorrowedLocks {
  const Locks* locks;
  [[nodiscard]] const Locks* get() const noexcept { return locks; }
};
/// `Type` is Locks, which is complete at the caller that passes a temporary.
template <class Type>
struct OwnedLocks {
  Type locks;
  [[nodiscard]] const Locks* get() const noexcept { return &locks; }
};

struct NeverCancelled {
  [[nodiscard]] static const std::stop_token* get() noexcept { return nullptr; }
};
struct CancelledBy {
  std::stop_token token;
  [[nodiscard]] const std::stop_token* get() const noexcept { return &token; }
};

/// No name is set: the method's name.
struct MethodName {
  [[nodiscard]] static constexpr std::string_view get() noexcept { return {}; }
};
template <FixedString Name>
struct FixedName {
  static constexpr auto text = Name;
  [[nodiscard]] static constexpr std::string_view get() noexcept {
    return text.size() == 0 ? std::string_view() : text.view();
  }
};

/// on_lost was not called: a loss is thrown.
struct RaiseByDefault {};
/// on_unconfirmed_release was not called: the listener is told.
struct ReportByDefault {};

struct MayThrow {};
struct NeverThrows {};

/// The type is that of a semaphore, none, or not known to the compiler.
struct MayBeSemaphore {};
/// LOCKED names a type of a lock: there are no permits.
struct IsLock {};
/// LOCKED names READ: there are no permits, and no fencing token.
struct IsRead {};

/// `Types` are the value types of all settings, in the order of Setting.
template <class... Types>
struct Settings {
  std::tuple<Types...> values{};

  template <Setting setting>
  using Type = std::tuple_element_t<static_cast<std::size_t>(setting), std::tuple<Types...>>;

  template <Setting setting>
  [[nodiscard]] constexpr const Type<setting>& get() const noexcept {
    return std::get<static_cast<std::size_t>(setting)>(values);
  }

  /// Returns these settings with one value replaced, whose type may differ.
  template <Setting setting, class New>
  [[nodiscard]] constexpr auto replace(New value) && {
    return replace_at<static_cast<std::size_t>(setting)>(value,
                                                         std::index_sequence_for<Types...>());
  }

 private:
  template <std::size_t replaced, class New, std::size_t... Index>
  constexpr auto replace_at(New& value, std::index_sequence<Index...>) {
    return Settings<std::conditional_t<Index == replaced, New, Types>...>{
        {std::move(choose < Index == replaced > (value, std::get<Index>(values)))...}};
  }

  template <bool first, class First, class Second>
  static constexpr auto& choose(First& one, Second& other) {
    if constexpr (first) {
      return one;
    } else {
      return other;
    }
  }
};

/// The defaults. The types have short names because these are part of the symbols of nearly every
/// site.
struct Plain : Settings<InstalledLocks, Always, MethodName, strategy::Raise, strategy::Raise,
                        RaiseByDefault, MayThrow, NeverCancelled, MayBeSemaphore, ReportByDefault> {
};
struct PlainLock : Settings<InstalledLocks, Always, MethodName, strategy::Raise, strategy::Raise,
                            RaiseByDefault, MayThrow, NeverCancelled, IsLock, ReportByDefault> {};
struct PlainRead : Settings<InstalledLocks, Always, MethodName, strategy::Raise, strategy::Raise,
                            RaiseByDefault, MayThrow, NeverCancelled, IsRead, ReportByDefault> {};

/// The defaults of a LOCKED that names this type; PERMIT: of one that names no type of a lock.
template <LockType named>
using PlainOf =
    std::conditional_t<named == LockType::PERMIT, Plain,
                       std::conditional_t<named == LockType::READ, PlainRead, PlainLock>>;

}  // namespace detail
}  // namespace latchkey::inline v1
#pragma GCC visibility pop
