// The reports to the listener about an acquire of several keys.
// SPDX-License-Identifier: BSL-1.0
#include "locks/multi/member_report.hpp"

#include <new>

#include "locks/space/blocking_call.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {

void report_member(LockSpace& space, const LockMember& lock, Owner owner, const Attempt& attempt,
                   MemberReport& report, Answer answer, RemoteHold* hold,
                   const Call* last) noexcept {
  if (space.reporter().wanted() == CoordinatorSettings::Events::nobody) return;
  try {
    Attempt its = attempt;
    its.type = lock.type;
    BlockingCall call(space);
    call.want(owner, its);
    call.want_for(report);
    call.limit(attempt.wait);
    call.report_member(space.driver().place_of(lock.key), answer, hold, last);
  } catch (const std::bad_alloc&) {
    space.reporter().count_unreported(1);
  }
}

}  // namespace latchkey::inline v1::detail
