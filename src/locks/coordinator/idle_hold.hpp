// A hold that nobody in this process has any more, kept until another process wants it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>

#include <latchkey/backend.hpp>

#include "locks/coordinator/coordinator.hpp"

namespace latchkey::inline v1::detail {

/// The lease of an idle hold: others wait no longer if its process ends. It is renewed so much
/// earlier than a call could not take the hold any more (least_idle_rest).
inline constexpr std::chrono::milliseconds idle_lease{900};
inline constexpr std::chrono::milliseconds idle_renewal_time{100};
/// How many fencing tokens a claim reserves whose hold may become idle.
inline constexpr std::uint32_t block_of_idle_tokens = 256;

/// The decisions about RemoteHold::Stage::idle (RemoteHold::cache). The last local hold has ended,
/// and no call of this process waits: the hold at the backend stays, and the next call of its type
/// takes it without a request. Functions of a Coordinator.
///
/// An `expire` follows the first release: it shortens the lease to `idle_lease`, says whether
/// somebody waits for the key, and has the backend tell when somebody takes a place in line
/// (Request::recall). The renewals while it is idle do that, too. From the first release on the
/// hold is kept for `cache`, however often it is taken meanwhile: a waiter whom nobody hears waits
/// no longer for it than that, and for one local hold. With adaptive_cache that bound is 1 s, and
/// each release keeps the hold for the time that ReuseTimes has learned. It is given back earlier
/// if somebody wants it, its state at the backend is in doubt, or another kind of call comes.
///
/// A backend that keeps the order of requests runs the `expire` before the renewal of a call that
/// has taken the hold. Without that order (Capabilities::in_order) nobody takes it before the
/// reply, for which the release waits: an `expire` that is late would end a lease that a call
/// relies on. A late renewal shortens no lease.
class IdleHold {
 public:
  /// Keeps `hold`, whose last local hold has ended, and answers `call`, unless it is null, now or
  /// by the reply to the `expire`. False: nothing is done, and the hold is released.
  [[nodiscard]] static bool keep(Coordinator& home, RemoteHold& hold, Call* call);
  /// Grants the idle hold to `call`. False: there is none, or it was given back because it does
  /// not suit the call.
  [[nodiscard]] static bool take(Coordinator& home, Call& call);
  /// The time may be over for `hold`, which is idle.
  static void tick(Coordinator& home, RemoteHold& hold);
  /// Null: there is none.
  [[nodiscard]] static const RemoteHold* of(const Coordinator& home) noexcept;
  /// Gives the idle hold back, if there is one.
  static void end(Coordinator& home);
  /// As above, as an event of its own. Returns whether there was one.
  static bool end(Coordinator& home, EventContext& event);
  /// The reply to a request about `hold` with Request::recall. It may be held again.
  static void on_reply(Coordinator& home, RemoteHold& hold, const Outcome& outcome);
  /// Somebody waits for the key in another process.
  static void on_wanted(Coordinator& home);
  /// Somebody else has changed the key or, unless it is `of_one_key`, perhaps each of them.
  static void on_change(Coordinator& home, bool of_one_key);
  /// Other processes take part in the key of `claim`: nothing is kept idle for a while.
  static void note_others(Coordinator& home, const RemoteHold& claim);
  /// From now on nobody tells whether others wait.
  static void on_link_down(Coordinator& home);
  /// `claim` has fencing tokens: it reserves more, for the calls that take the hold while it is
  /// idle.
  static void reserve_tokens(Coordinator& home, RemoteHold& claim);

 private:
  /// Whether the terms of `hold` and the backend allow that it is kept.
  [[nodiscard]] static bool can_be_idle(const Coordinator& home, const RemoteHold& hold);
  /// Whether `hold` is kept if nothing but its terms and the other processes is against it.
  [[nodiscard]] static bool is_wanted_idle(Coordinator& home, const RemoteHold& hold);
  /// For how long a release now keeps `hold`; 0: not at all.
  [[nodiscard]] static std::chrono::milliseconds time_of(const Coordinator& home,
                                                         const RemoteHold& hold);
  /// The last local hold of `hold` has ended.
  static void learn_of_release(Coordinator& home, const RemoteHold& hold);
  [[nodiscard]] static bool may_keep(Coordinator& home, const RemoteHold& hold);
  [[nodiscard]] static bool may_take(Coordinator& home, const RemoteHold& hold, const Call& call);
  /// Shortens the lease of `hold` (expire) or extends it (renew), and asks whether others wait.
  static void ask(Coordinator& home, RemoteHold& hold, Verb verb);
  /// The lease of the idle `hold` is to be extended from now on or, as check.due_at says, later.
  static void plan_renewal(Coordinator& home, RemoteHold& hold);
  /// Whether the release waits for the reply to the `expire` that is in flight, and with it all
  /// calls.
  [[nodiscard]] static bool awaits_reply(const Coordinator& home, const RemoteHold& hold);
  /// The release that has left `hold` idle is over.
  static void end_local_hold(Coordinator& home, RemoteHold& hold, Call* call);
  static void grant(Coordinator& home, RemoteHold& hold, Call& call);
  /// The backend has confirmed `hold`, which is idle, and nobody waits for it.
  static void keep_on(Coordinator& home, RemoteHold& hold);
  /// Grants the hold to the call that waits for the reply to its `expire`, or gives it back if it
  /// does not suit that call.
  static void grant_to_waiting(Coordinator& home, RemoteHold& hold);
  /// The idle hold, if there is one, is about to be given back to others.
  static void report_recall(Coordinator& home);
};

}  // namespace latchkey::inline v1::detail
