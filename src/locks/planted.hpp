// Bugs that the simulator must catch, compiled in by one test and by nothing else.
#pragma once

#include <cstdint>

namespace latchkey::detail {

/// Each stands at one line of the coordinator or of the simulated store, in the form
/// `planted(Bug::x) ? wrong : right`.
enum class Bug : std::uint8_t {
  none,
  deadline_from_the_reply,        ///< the deadline counts from the answer, not from the request
  no_margin,                      ///< the holder believes as long as the backend does
  late_renewal_revives,           ///< an answer after the deadline moves the deadline
  unknown_is_not_compensated,     ///< a claim given up without an answer is forgotten
  id_used_again,                  ///< the next hold has the id of the last one
  renewal_outlives_release,       ///< a hold that ended is renewed on
  watchdog_stops,                 ///< the first renewal is the last one
  no_attempt_after_subscribing,   ///< a release between busy and subscribed is missed
  gone_is_ignored,                ///< a renewal answered "gone" changes nothing
  release_ignores_the_count,      ///< the first release of several ends the hold
  anyone_reenters,                ///< re-entry does not look at the owner
  wait_is_no_bound,               ///< an acquire waits for its first answer however long that takes
  local_holder_is_waited_for,     ///< the queue is not bounded by the holder's lease
  composite_keeps_what_it_holds,  ///< a composite that failed gives nothing back
  composite_ignores_losses,       ///< a composite is granted although a member was lost
  downgrade_stays_a_write,        ///< a release during a downgrade names the WRITE alone
  absent_timeout_is_a_dead_reader,  ///< a READ that ends erases others while a slot moves
  read_is_renewed_as_write,         ///< a hold that may be a READ already is renewed as a WRITE
};

#ifdef LATCHKEY_PLANTED_BUGS
extern Bug planted_bug;
inline bool planted(Bug bug) noexcept { return planted_bug == bug; }
#else
constexpr bool planted(Bug) noexcept { return false; }
#endif

}  // namespace latchkey::detail
