// JoinPoint: one decorated call, as an aspect sees it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>

#include <latchkey/detail/reflect/type_name.hpp>
#include <latchkey/site.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

namespace detail {

template <class T>
inline constexpr TypeTag type_tag{reflect::type_name<T>()};

}  // namespace detail

/// The location and the arguments of a call. An aspect's `around` receives it beside `proceed`.
///
/// It lives as long as the call. Arguments can be read through it but not changed. Under AROUND
/// they are the method's own variables. In a decorated callable they are the parameters of the
/// wrapper, from which the body may have moved once `proceed` was called.
class JoinPoint {
 public:
  JoinPoint(const JoinPoint&) = delete;
  JoinPoint& operator=(const JoinPoint&) = delete;

  [[nodiscard]] const Site& site() const noexcept { return *site_; }
  /// The site's name: "Bank::deposit", or the name given by `.named()`.
  [[nodiscard]] std::string_view name() const { return site_->name(); }

  [[nodiscard]] std::size_t argument_count() const noexcept { return site_->argument_count(); }
  /// argument_name and argument_type throw std::out_of_range.
  [[nodiscard]] std::string_view argument_name(std::size_t position) const {
    return site_->argument_name(position);
  }
  [[nodiscard]] std::string_view argument_type(std::size_t position) const {
    return site_->argument_type(position);
  }
  [[nodiscard]] std::string_view result_type() const { return site_->result_type(); }

  /// The argument at that position, or with that name, if there is one and its type is T; null
  /// otherwise.
  template <class T>
  [[nodiscard]] const T* get_if(std::size_t position) const noexcept {
    return static_cast<const T*>(find(position, detail::type_tag<std::remove_cv_t<T>>));
  }
  template <class T>
  [[nodiscard]] const T* get_if(std::string_view name) const {
    return get_if<T>(position_of(name));
  }

  /// Like get_if, but throws std::invalid_argument with a one-sentence message instead of returning
  /// null.
  template <class T>
  [[nodiscard]] const T& get(std::size_t position) const {
    if (const T* found = get_if<T>(position)) return *found;
    mistaken(position, detail::type_tag<std::remove_cv_t<T>>);
  }
  template <class T>
  [[nodiscard]] const T& get(std::string_view name) const {
    const std::size_t position = position_of(name);
    if (position == argument_count()) unknown(name);
    return get<T>(position);
  }

  /// The position of the argument with that name; argument_count() if there is none.
  [[nodiscard]] std::size_t position_of(std::string_view name) const;

 protected:
  JoinPoint(Site& site, const void* const* arguments) noexcept
      : site_(&site), arguments_(arguments) {}
  ~JoinPoint() = default;

  [[nodiscard]] Site& own_site() const noexcept { return *site_; }
  [[nodiscard]] const void* const* addresses() const noexcept { return arguments_; }

 private:
  [[nodiscard]] const void* find(std::size_t position, const detail::TypeTag& type) const noexcept;
  [[noreturn]] void mistaken(std::size_t position, const detail::TypeTag& wanted) const;
  [[noreturn]] void unknown(std::string_view name) const;

  Site* site_;
  const void* const* arguments_;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
