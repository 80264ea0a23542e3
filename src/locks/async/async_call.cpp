// A release that nobody waits for.
// SPDX-License-Identifier: BSL-1.0
#include "locks/async/async_call.hpp"

#include <new>

#include <latchkey/error.hpp>

#include "core/sanitizer_pause.hpp"
#include "locks/space/call_error.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {
namespace {

/// A release that keeps no record of itself.
class UnreportedRelease final : public StartedCall {
 public:
  explicit UnreportedRelease(LockSpace& space) noexcept : StartedCall(space) {}
  ~UnreportedRelease() { drop_space_later(); }  // this thread may be inside the space's backend
};

}  // namespace

void DetachedRelease::start(LockSpace& space, RemoteHold& hold, HoldTerms terms,
                            std::chrono::milliseconds linger) noexcept {
  const SanitizerPause pause;
  if (hold.inherited.load(std::memory_order_relaxed)) return;
  auto* const release = new (std::nothrow) DetachedRelease(space);
  if (release == nullptr) {
    return UnreportedRelease(space).release_without_waiting(hold, terms, linger);
  }
  if (!release->start_release(hold, terms, linger)) release->answered();
}

void DetachedRelease::answered() noexcept {
  const SanitizerPause pause;
  if (answer() != Answer::granted && answer() != Answer::lost) report();
  drop_space_later();  // this thread may be inside the space's backend
  delete this;
}

void DetachedRelease::report() noexcept {
  Reporter& reporter = space().reporter();
  try {
    throw_answer(space(), call(), call().key);
  } catch (const LockError& error) {
    reporter.unlock_failed(error);
  } catch (const std::bad_alloc&) {
    reporter.count_unreported(1);
  }
}

}  // namespace latchkey::inline v1::detail
