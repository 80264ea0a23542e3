// Getting in, running the body, getting out.
#pragma once

#include <exception>
#include <type_traits>

#include <latchkey/locked/checks.hpp>
#include <latchkey/locked/locked_call.hpp>
#include <latchkey/locked/options.hpp>
#include <latchkey/locked/outcomes.hpp>

namespace latchkey::detail {

/// Releases also where the result can be neither copied nor moved.
class LeaveAtEnd {
 public:
  explicit LeaveAtEnd(LockedCall& locked) noexcept : locked_(locked) {}
  LeaveAtEnd(const LeaveAtEnd&) = delete;
  LeaveAtEnd& operator=(const LeaveAtEnd&) = delete;
  ~LeaveAtEnd() noexcept(false) {
    if (std::uncaught_exceptions() == exceptions_) locked_.leave();
  }

 private:
  LockedCall& locked_;
  int exceptions_ = std::uncaught_exceptions();
};

/// `enter` under the condition and the promise of the options.
template <class Options, class Call, class Enter>
Entry enter_if_wanted(const Options& options, const Call& call, Enter& enter) {
  const auto ask = [&]() -> Entry {
    if constexpr (!Options::always_asked) {
      if (!options.condition.holds(call)) return Entry::unneeded;
    }
    return enter();
  };
  if constexpr (Options::never_throws) {
    try {
      return ask();
    } catch (...) {
      return LockedCall::failed(options.place.get(), options.terms.type, call.own_site());
    }
  } else {
    return ask();
  }
}

/// The result where the body did not run.
template <class Result, class Options, class Call>
Result run_nothing(const Options& options, Entry why, const Call& call) {
  if (why == Entry::timeout) {
    // Asked for again: where the body runs unlocked or the error is thrown nobody comes here.
    if constexpr (answers<decltype(options.timeout)>) {
      return answer<Result>(options.timeout, why, call);
    }
  }
  if constexpr (answers<decltype(options.unavailable)>) {
    return answer<Result>(options.unavailable, why, call);
  }
  std::terminate();
}

}  // namespace latchkey::detail
