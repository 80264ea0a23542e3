// A release that no thread waits for and whose result is wanted.
// SPDX-License-Identifier: BSL-1.0
#include "locks/async/async_release.hpp"

#include <algorithm>

#include "core/sanitizer_pause.hpp"
#include "locks/space/call_error.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {

AsyncRelease::Part::Part(AsyncRelease& whole, const SingleHold& hold)
    : AsyncCall(*hold.remote().space), whole_(whole) {}

bool AsyncRelease::start(Hold& hold, std::chrono::milliseconds linger) {
  const SanitizerPause pause;
  if (HoldAccess::is_empty(hold)) {
    lost_ = true;
    return false;
  }
  const HoldAccess::Taken taken = HoldAccess::take(hold);
  linger = std::max(linger, taken.linger);
  if (MultiHold* const* const several = std::get_if<MultiHold*>(&taken.held)) {
    several_.reset(*several);
    for (const SingleHold& each : several_->members()) start_one_of_several(each, linger);
  } else {
    const SingleHold one(*std::get<RemoteHold*>(taken.held), taken.terms);
    lost_ = one.inherited();
    if (!lost_) start(one_.emplace(*this, one), one, linger);
  }
  return pending_.fetch_sub(1) != 1;
}

void AsyncRelease::start(Part& part, const SingleHold& hold, std::chrono::milliseconds linger) {
  pending_.fetch_add(1);
  if (!part.start_release(hold.remote(), hold.terms(), linger)) pending_.fetch_sub(1);
}

// Without memory for the record the hold is released all the same.
void AsyncRelease::start_one_of_several(const SingleHold& hold, std::chrono::milliseconds linger) {
  if (hold.inherited()) {
    lost_ = true;
    return;
  }
  try {
    parts_.emplace_back(*this, hold);
  } catch (const std::bad_alloc&) {
    return DetachedRelease::start(*hold.remote().space, hold.remote(), hold.terms(), linger);
  }
  start(parts_.back(), hold, linger);
}

void AsyncRelease::part_ended() noexcept {
  if (pending_.fetch_sub(1) == 1) observer_.ended();
}

bool AsyncRelease::result(const ErrorContext* context) {
  if (one_) return done_or_throw(one_->space(), one_->call(), context);
  bool all = !lost_;
  for (Part& part : parts_) all = done_or_throw(part.space(), part.call(), context) && all;
  return all;
}

}  // namespace latchkey::inline v1::detail
