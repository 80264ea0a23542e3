// An extension of a lease that no thread waits for.
// SPDX-License-Identifier: BSL-1.0
#include "locks/async/async_extend.hpp"

#include <variant>

#include <latchkey/lease.hpp>

#include "core/sanitizer_pause.hpp"
#include "locks/space/call_error.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {

AsyncExtend::Part::Part(AsyncExtend& whole, const SingleHold& its)
    : AsyncCall(*its.remote().space), hold(its), whole_(whole) {}

// All memory is there before the first part starts: a pending part cannot be destroyed.
bool AsyncExtend::start(const Hold& hold, std::chrono::milliseconds lease) {
  const SanitizerPause pause;
  if (HoldAccess::is_empty(hold)) {
    lost_ = true;
    return false;
  }
  const Held& held = HoldAccess::held(hold);
  if (const auto* const several = std::get_if<MultiHold*>(&held)) {
    for (const SingleHold& each : (*several)->members()) prepare(each, lease);
  } else {
    prepare(SingleHold(*std::get<RemoteHold*>(held), HoldAccess::terms(hold)), lease);
  }
  for (Part& part : parts_) {
    pending_.fetch_add(1);
    const SingleHold& one = part.hold;
    if (!part.start_extend(one.remote(), one.terms().type, lease)) pending_.fetch_sub(1);
  }
  return pending_.fetch_sub(1) != 1;
}

void AsyncExtend::prepare(const SingleHold& hold, std::chrono::milliseconds lease) {
  if (hold.inherited()) {
    lost_ = true;
    return;
  }
  hold.remote().space->require_offered(Lease(lease));
  parts_.emplace_back(*this, hold);
}

void AsyncExtend::part_ended() noexcept {
  if (pending_.fetch_sub(1) == 1) observer_.ended();
}

bool AsyncExtend::result() {
  bool all = !lost_;
  for (Part& part : parts_) all = done_or_throw(part.space(), part.call()) && all;
  return all;
}

}  // namespace latchkey::inline v1::detail
