// Which annotated functions run under their annotations: by a word in the body, or by a proxy.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <meta>
#include <utility>

#include <latchkey/detail/annotations/function.hpp>
#include <latchkey/detail/locked/locked_call.hpp>
#include <latchkey/detail/locked/locked_site.hpp>
#include <latchkey/key_buffer.hpp>
#include <latchkey/site.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// A fact of the program that its parts state before main, and those of a shared object when it is
/// loaded.
class StatedFact {
 public:
  /// Returns true, so that the call can initialise a static.
  bool state() noexcept {
    stated_.store(true, std::memory_order_relaxed);
    return true;
  }
  /// Whether nobody had stated it before.
  [[nodiscard]] bool state_first() noexcept {
    return !stated_.exchange(true, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_stated() const noexcept { return stated_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> stated_{false};
};

/// The facts of a function. One object, because a compiler gives each a section of its own.
struct FunctionFacts {
  StatedFact has_word;        ///< LOCK_ANNOTATED or AROUND_ANNOTATED
  StatedFact site_is_linked;  ///< by a word or by a proxy, in the list of sites

  bool link(Site& site) noexcept { return !site_is_linked.state_first() || register_site(site); }
};

/// Registers words in the body of a function.
template <std::meta::info Function>
struct WordIn {
  static inline constinit FunctionFacts facts{};
  static inline const bool registered = facts.has_word.state();

  static void enroll() noexcept { static_cast<void>(&registered); }
};

/// The site of a function with its own result and all parameters is linked once. An override may
/// have another result, and then another site.
template <class Result, std::meta::info Function, std::size_t Count>
bool link_site(ParametersOf<Function, Count>* /*where*/, Site& site) noexcept {
  if constexpr (Count == parameters_of(Function).size() &&
                is_same_type(^^Result, return_type_of(Function))) {
    return WordIn<Function>::facts.link(site);
  } else {
    return register_site(site);
  }
}

/// A proxy of this program calls the function.
template <std::meta::info Function>
struct ProxyOf {
  static inline constinit StatedFact fact{};
  static inline const bool registered = fact.state();

  static void enroll() noexcept { static_cast<void>(&registered); }
};

/// Lives while a proxy calls a virtual function under its lock: which body runs, and whether it has
/// the word, is known only when it does.
class ProxiedCall {
 public:
  ProxiedCall() noexcept : outer_(std::exchange(pending, LockedCall::innermost())) {}
  ProxiedCall(const ProxiedCall&) = delete;
  ProxiedCall& operator=(const ProxiedCall&) = delete;
  ~ProxiedCall() { pending = outer_; }

  /// For the word: whether the proxy of this very call holds the key already. True once for a call.
  /// The keys are compared, because a body may call its function again before its own word.
  [[nodiscard]] static bool holds(const LockedSite& known, const void* const* arguments) {
    const LockedCall* const call = pending;
    if (call == nullptr || call != LockedCall::innermost() || call->origin().site != &known ||
        known.render == nullptr) {
      return false;
    }
    KeyBuffer key;
    known.render(key, known.key, arguments);
    if (key.view() != call->key()) return false;
    pending = nullptr;
    return true;
  }

 private:
  static inline thread_local const LockedCall* pending = nullptr;

  const LockedCall* outer_;
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
