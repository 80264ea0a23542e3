// An acquire of one key that no thread waits for.
// SPDX-License-Identifier: BSL-1.0
#include "locks/async/async_acquire.hpp"

#include "core/sanitizer_pause.hpp"
#include "core/thread_order.hpp"
#include "locks/async/access.hpp"
#include "locks/space/call_error.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {
namespace {

HoldTerms terms_of(const Call& call) noexcept {
  return {.type = call.type,
          .watchdog = call.lease.is_watchdog(),
          .detached = true,
          .fenced = call.wants_token(),
          .limit = call.limit_number()};
}

}  // namespace

AsyncAcquire::~AsyncAcquire() {
  if (answer() != Answer::granted || taken_) return;
  DetachedRelease::start(space(), *call().hold, terms_of(call()), std::chrono::milliseconds(0));
}

bool AsyncAcquire::start(std::string_view key, Owner owner, const Attempt& attempt) {
  const SanitizerPause pause;
  key_ = key;
  want(owner, attempt);
  limit(attempt.wait);
  return start_acquire(space().driver().place_of(key));
}

std::optional<Hold> AsyncAcquire::take() {
  const SanitizerPause pause;
  if (answer() == Answer::busy) return std::nullopt;
  if (answer() != Answer::granted) throw_answer(space(), call(), key_);
  order_after_grant(key_, call().type);
  taken_ = true;
  return HoldAccess::make(call().hold, terms_of(call()));
}

void AsyncAcquire::fail_busy() { throw_answer(space(), call(), key_); }

}  // namespace latchkey::inline v1::detail
