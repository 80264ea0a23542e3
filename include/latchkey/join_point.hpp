// One decorated call, as an aspect sees it.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>

#include <latchkey/reflect/type_name.hpp>
#include <latchkey/site.hpp>

namespace latchkey {

namespace detail {

template <class T>
inline constexpr TypeTag type_tag{reflect::type_name<T>()};

}  // namespace detail

/// Where a call is and what it was given. An aspect's `around` gets it beside `proceed`.
///
/// It lives as long as the call. Arguments are read through it, never changed: under AROUND they
/// are the method's own, in a decorated callable the parameters of the wrapper, which the body may
/// have moved from once `proceed` was called.
class JoinPoint {
 public:
  JoinPoint(const JoinPoint&) = delete;
  JoinPoint& operator=(const JoinPoint&) = delete;

  [[nodiscard]] const Site& site() const noexcept { return *site_; }
  /// The site's name: "Bank::deposit", or what `.named()` said.
  [[nodiscard]] std::string_view name() const { return site_->name(); }

  [[nodiscard]] std::size_t argument_count() const noexcept { return site_->argument_count(); }
  /// These two throw std::out_of_range.
  [[nodiscard]] std::string_view argument_name(std::size_t position) const {
    return site_->argument_name(position);
  }
  [[nodiscard]] std::string_view argument_type(std::size_t position) const {
    return site_->argument_type(position);
  }
  [[nodiscard]] std::string_view result_type() const { return site_->result_type(); }

  /// The argument at that position, or of that name, if there is one and its type is T; null
  /// otherwise.
  template <class T>
  [[nodiscard]] const T* get_if(std::size_t position) const noexcept {
    return static_cast<const T*>(find(position, detail::type_tag<std::remove_cv_t<T>>));
  }
  template <class T>
  [[nodiscard]] const T* get_if(std::string_view name) const {
    return get_if<T>(position_of(name));
  }

  /// The same; throws std::invalid_argument with a sentence instead.
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

  /// The position of the argument of that name; argument_count() where there is none.
  [[nodiscard]] std::size_t position_of(std::string_view name) const;

 protected:
  explicit JoinPoint(const void* const* arguments) noexcept : arguments_(arguments) {}
  ~JoinPoint() = default;

  /// A call knows its site once its result type is known.
  void at(Site& site) noexcept { site_ = &site; }
  [[nodiscard]] Site& own_site() const noexcept { return *site_; }

 private:
  [[nodiscard]] const void* find(std::size_t position, const detail::TypeTag& type) const noexcept;
  [[noreturn]] void mistaken(std::size_t position, const detail::TypeTag& wanted) const;
  [[noreturn]] void unknown(std::string_view name) const;

  Site* site_ = nullptr;
  const void* const* arguments_;
};

}  // namespace latchkey
