// Acquires the lock, runs the body and releases the lock.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <string_view>
#include <type_traits>

#include <latchkey/detail/locked/checks.hpp>
#include <latchkey/detail/locked/locked_call.hpp>
#include <latchkey/detail/locked/outcomes.hpp>
#include <latchkey/error.hpp>
#include <latchkey/lock_options.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// Releases even if the result can be neither copied nor moved.
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

/// Enters if the condition of the options holds, and catches errors if the options never throw.
template <class Options, class Call>
Entry enter_if_wanted(const Options& options, LockedCall& locked, const LockedSite& known,
                      const Call& call) {
  const auto ask = [&]() -> Entry {
    if constexpr (!Options::always_asked) {
      try {
        if (!options.condition().holds(call)) return Entry::unneeded;
      } catch (const KeyError& error) {
        locked.name(error, call.own_site(), known.note.text);
      }
    }
    return locked.enter(known, call.own_site(), call.addresses());
  };
  if constexpr (Options::never_throws) {
    try {
      return ask();
    } catch (...) {
      return locked.decided(
          LockedCall::failed(options.locks(), options.terms.type, call.own_site()));
    }
  } else {
    return ask();
  }
}

/// For the handler around a body: an error of latchkey that leaves the body, for example from a
/// nested decorated call, is marked with note_body_ran(), and thrown again.
[[noreturn]] void rethrow_from_body();

/// The result if the body did not run.
template <class Result, class Options, class Call>
Result run_nothing(const Options& options, Entry why, const Call& call) {
  if (why == Entry::timeout) {
    // Checked again: this function is not called if the body runs unlocked or the error is thrown.
    if constexpr (answers<typename Options::Timeout>) {
      return answer<Result>(options.timeout(), why, call);
    }
  }
  if constexpr (answers<typename Options::Unavailable>) {
    return answer<Result>(options.unavailable(), why, call);
  }
  std::terminate();
}

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop
