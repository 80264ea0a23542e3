// An acquire of one key that no thread waits for.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <string_view>

#include <latchkey/attempt.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/owner.hpp>

#include "locks/async/async_call.hpp"

namespace latchkey::inline v1::detail {

/// The acquire is started at most once, and must not be destroyed while it is pending. A grant that
/// nobody takes is given back by the destructor.
class AsyncAcquire final : private AsyncCall {
 public:
  AsyncAcquire(LockSpace& space, AsyncObserver& observer) noexcept
      : AsyncCall(space), observer_(observer) {}
  ~AsyncAcquire();

  using StartedCall::want_holder_name;
  /// Starts the acquire. True: pending; the observer will be told. False: it has ended. `key`, with
  /// its prefix, must stay unchanged until the result was taken. Throws std::bad_alloc and
  /// BackendUnavailable.
  bool start(std::string_view key, Owner owner, const Attempt& attempt);
  /// Ends the wait; nothing happens if it has ended. On any thread, after start has returned.
  using StartedCall::cancel;

  /// Takes the result once, after the end: the hold; nullopt: it was busy. Throws what
  /// Lock::acquire throws.
  std::optional<Hold> take();
  /// Throws LockTimeout, after take has returned nullopt.
  [[noreturn]] void fail_busy();

 private:
  void answered() noexcept override { observer_.ended(); }

  AsyncObserver& observer_;
  std::string_view key_{};
  bool taken_ = false;
};

}  // namespace latchkey::inline v1::detail
