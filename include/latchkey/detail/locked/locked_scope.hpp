// The lock of a scope, from its declaration on: the part that does not depend on types.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/locked/locked_call.hpp>
#include <latchkey/detail/locked/locked_site.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

class Locks;

namespace detail {

/// Ends as the call of a LOCKED does: its destructor releases, and throws LockLost,
/// ReleaseUnconfirmed and BackendRefused after a body that returned.
class LockedScope {
 public:
  /// Enters. Throws what LockedCall::enter throws.
  LockedScope(const LockTerms& terms, const Locks* locks, LockedSite& site,
              const void* const* addresses);
  LockedScope(const LockedScope&) = delete;
  LockedScope& operator=(const LockedScope&) = delete;
  ~LockedScope() noexcept(false);

  [[nodiscard]] bool runs() const noexcept {
    return entry_ == Entry::held || entry_ == Entry::unneeded;
  }

 protected:
  /// Has not entered yet.
  template <class Options>
  explicit LockedScope(const Options& options) noexcept
      : locked_(options), in_flight_(exceptions_in_flight()) {}

  LockedCall locked_;
  const unsigned& in_flight_;         ///< exceptions in this thread
  unsigned exceptions_ = in_flight_;  ///< when the scope began
  Entry entry_ = Entry::unavailable;

 private:
  [[nodiscard]] static const unsigned& exceptions_in_flight() noexcept;
};

}  // namespace detail
}  // namespace latchkey::inline v1
#pragma GCC visibility pop
