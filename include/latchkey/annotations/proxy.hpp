// Annotated<T>: a proxy whose calls run under the annotations of T's member functions.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <meta>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <latchkey/detail/annotations/binding.hpp>
#include <latchkey/detail/annotations/call.hpp>
#include <latchkey/detail/annotations/function.hpp>
#include <latchkey/detail/annotations/mistakes.hpp>
#include <latchkey/detail/annotations/plain_word.hpp>
#include <latchkey/detail/aspect/call.hpp>
#include <latchkey/detail/aspect/method_frame.hpp>
#include <latchkey/detail/locked/body_kind.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {
namespace detail {

/// The calls of one member function of T through a proxy. `Parameters` are its first parameters:
/// those that are missing have default arguments.
template <class T, std::meta::info Function, class Result, class... Parameters>
struct ProxyCall {
  static Result run(T& target, Parameters&&... parameters) {
    const auto body = [&](auto... frame) -> decltype(auto) {
      if constexpr (sizeof...(frame) != 0) {
        return (frame->template call<Parameters...>([&](auto&&... moved) -> decltype(auto) {
          return target.[:Function:](static_cast<decltype(moved)>(moved)...);
        }),
                ...);
      } else {
        return target.[:Function:](static_cast<Parameters&&>(parameters)...);
      }
    };
    if constexpr (call_annotations(Function).empty()) {
      return body();
    } else {
      static_assert(proxy_check<Function, Parameters...>.fits,
                    proxy_check<Function, Parameters...>);
      if constexpr (proxy_check<Function, Parameters...>.fits) {
        using Call = AnnotatedCallOf<annotated_function(Function), is_noexcept(Function), Result,
                                     Parameters...>;
        static_assert(Call::OptionChecks::run());
        ProxyOf<annotated_function(Function)>::enroll();
        // A body with the word takes the lock itself. Which body a virtual call runs is known
        // later.
        if (WordIn<Function>::facts.has_word.is_stated()) return body();
        const void* const addresses[] = {static_cast<const void*>(std::addressof(parameters))...,
                                         nullptr};
        if constexpr (is_virtual(Function) && !BodyKind<Result>::is_coroutine) {
          return Call::ready(addresses) && [&]() -> Result {
            const ProxiedCall proxied;
            return body();
          };
        } else {
          return Call::ready(addresses) && body;
        }
      }
    }
  }
};

/// One overload of a function on the surface of a proxy. The second kind is for const functions.
template <class T, std::meta::info Function, bool is_const, bool no_throw, class Result,
          class... Parameters>
struct ProxyFunction {
  T* target = nullptr;

  Result operator()(Parameters... parameters) noexcept(no_throw) {
    return ProxyCall<T, Function, Result, Parameters...>::run(
        *target, static_cast<Parameters&&>(parameters)...);
  }
};
template <class T, std::meta::info Function, bool no_throw, class Result, class... Parameters>
struct ProxyFunction<T, Function, true, no_throw, Result, Parameters...> {
  T* target = nullptr;

  Result operator()(Parameters... parameters) const noexcept(no_throw) {
    return ProxyCall<const T, Function, Result, Parameters...>::run(
        *target, static_cast<Parameters&&>(parameters)...);
  }
};

/// All overloads of one name.
template <class... Functions>
struct ProxyOverloads : Functions... {
  using Functions::operator()...;
};

consteval bool has_explicit_object(std::meta::info function) {
  const auto parameters = parameters_of(function);
  return !parameters.empty() && is_explicit_object_parameter(parameters.front());
}

/// Whether a proxy offers a member: a named function that is called on an lvalue.
consteval bool is_offered(std::meta::info member) {
  return is_function(member) && has_identifier(member) && !is_deleted(member) &&
         !is_rvalue_reference_qualified(member) && !is_volatile(member) &&
         !has_explicit_object(member) && knows_result(member);
}

/// Whether `member` is hidden or overridden by a function that was found before it.
consteval bool is_repeated(std::meta::info member, const std::vector<std::meta::info>& before) {
  for (const std::meta::info other : before) {
    if (identifier_of(other) == identifier_of(member) && parent_of(other) != parent_of(member)) {
      return true;
    }
  }
  return false;
}

/// The public member functions of a class and of its public bases.
consteval void collect_offered(std::meta::info type, std::vector<std::meta::info>& found) {
  const auto outside = std::meta::access_context::unprivileged();
  const std::vector<std::meta::info> before = found;
  for (const std::meta::info member : members_of(type, outside)) {
    if (is_offered(member) && !is_repeated(member, before)) found.push_back(member);
  }
  for (const std::meta::info base : bases_of(type, outside)) {
    collect_offered(type_of(base), found);
  }
}

/// How many of the last parameters of a function have default arguments.
consteval std::size_t default_count(std::meta::info function) {
  std::size_t count = 0;
  for (const std::meta::info parameter : parameters_of(function)) {
    if (has_default_argument(parameter)) ++count;
  }
  return count;
}

/// The ProxyFunctions of one member function: one for each number of arguments.
consteval void add_functions(std::meta::info type, std::meta::info function,
                             std::vector<std::meta::info>& functions) {
  const auto parameters = parameters_of(function);
  const bool is_shared = is_const(function) || is_static_member(function);
  for (std::size_t missing = 0; missing <= default_count(function); ++missing) {
    std::vector<std::meta::info> arguments(1, type);
    arguments.push_back(std::meta::reflect_constant(function));
    arguments.push_back(std::meta::reflect_constant(is_shared));
    arguments.push_back(std::meta::reflect_constant(is_noexcept(function)));
    arguments.push_back(return_type_of(function));
    for (std::size_t index = 0; index + missing < parameters.size(); ++index) {
      arguments.push_back(type_of(parameters[index]));
    }
    functions.push_back(substitute(^^ProxyFunction, arguments));
  }
}

/// The members of a proxy's surface: one callable for each name.
consteval std::vector<std::meta::info> surface_members(std::meta::info type) {
  std::vector<std::meta::info> offered;
  collect_offered(type, offered);
  std::vector<std::meta::info> members;
  std::vector<std::string_view> names;
  for (const std::meta::info function : offered) {
    const std::string_view name = identifier_of(function);
    bool is_done = false;
    for (const std::string_view other : names) is_done = is_done || other == name;
    if (is_done) continue;
    names.push_back(name);
    std::vector<std::meta::info> functions;
    for (const std::meta::info overload : offered) {
      if (identifier_of(overload) == name) add_functions(type, overload, functions);
    }
    std::meta::data_member_options options;
    options.name = name;
    members.push_back(data_member_spec(substitute(^^ProxyOverloads, functions), options));
  }
  return members;
}

template <class T>
struct ProxySurface {
  struct Members;
  consteval { define_aggregate(^^Members, surface_members(^^T)); }
};

/// Lets every callable of a surface call `target`.
template <class T>
void aim(typename ProxySurface<T>::Members& surface, T* target) noexcept {
  using Members = typename ProxySurface<T>::Members;
  static constexpr auto everything = std::meta::access_context::unchecked();
  template for (constexpr std::meta::info member :
                std::define_static_array(nonstatic_data_members_of(^^Members, everything))) {
    template for (constexpr std::meta::info base :
                  std::define_static_array(bases_of(type_of(member), everything))) {
      surface.[:member:].[:base:].target = target;
    }
  }
}

}  // namespace detail

/// Calls member functions of a T under their annotations: `bank->deposit(account, amount)` runs as
/// if deposit's body were inside the AROUND of the annotation's LOCKED.
///
///     latchkey::Annotated<Bank> bank(ledger);                            // makes a Bank
///     latchkey::Annotated<Bank> same(std::ref(other));                   // refers to one
///     latchkey::Annotated<Store> store(std::make_unique<FileStore>());   // takes one over
///
/// Every public member function of T and of its public bases is there under its name, with its
/// overloads, const, noexcept and default arguments. A function without an annotation is called as
/// it is. If the body of a function has the word (LOCK_ANNOTATED), the body takes the lock and the
/// proxy does not. The bare object is reached by no conversion, only by `bare()`.
///
/// Not there: member templates, operators, functions for rvalues, with an explicit object parameter
/// or a deduced result, and data members. Calls within the object itself do not pass the proxy.
///
/// A call is thread-safe if that of T is. Neither copied nor moved, so that references stay valid.
template <class T>
class Annotated {
  using Surface = typename detail::ProxySurface<T>::Members;

 public:
  /// Makes the object in place.
  template <class... Arguments>
    requires(std::is_constructible_v<T, Arguments...> && !std::is_abstract_v<T>)
  explicit Annotated(Arguments&&... arguments)
      : owner_(std::make_shared<T>(std::forward<Arguments>(arguments)...)) {
    detail::aim<T>(surface_, owner_.get());
  }
  /// Takes the object over. Throws std::invalid_argument for null.
  template <class Derived, class Deleter>
    requires std::is_convertible_v<Derived*, T*>
  explicit Annotated(std::unique_ptr<Derived, Deleter> object)
      : Annotated(std::shared_ptr<T>(std::move(object))) {}
  /// Shares it. Throws std::invalid_argument for null.
  template <class Derived>
    requires std::is_convertible_v<Derived*, T*>
  explicit Annotated(std::shared_ptr<Derived> object) : owner_(std::move(object)) {
    if (owner_ == nullptr) {
      throw std::invalid_argument("latchkey::Annotated needs an object; the pointer is null");
    }
    detail::aim<T>(surface_, owner_.get());
  }
  /// Refers to an object that outlives the proxy.
  explicit Annotated(std::reference_wrapper<T> object) noexcept
      : Annotated(std::shared_ptr<T>(std::shared_ptr<void>(), std::addressof(object.get()))) {}
  Annotated(const Annotated&) = delete;
  Annotated& operator=(const Annotated&) = delete;
  ~Annotated() = default;

  [[nodiscard]] Surface* operator->() noexcept { return &surface_; }
  [[nodiscard]] const Surface* operator->() const noexcept { return &surface_; }

  /// The object itself: its calls run without the annotations, except those whose body has the
  /// word.
  [[nodiscard]] T& bare() noexcept { return *owner_; }
  [[nodiscard]] const T& bare() const noexcept { return *owner_; }

 private:
  std::shared_ptr<T> owner_;
  Surface surface_{};
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
