// One hold at the backend, and the local holds that share it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>

#include "locks/coordinator/call.hpp"
#include "locks/coordinator/hold_limits.hpp"
#include "locks/coordinator/intrusive_list.hpp"
#include "locks/coordinator/local_deadline.hpp"
#include "locks/coordinator/requests.hpp"

namespace latchkey::inline v1::detail {

class Coordinator;
class LockSpace;

/// The pause between two releases of one id, until the backend has confirmed one. It doubles up to
/// `longest_repeat_pause` while they are not even sent and the backend notifies of its return.
inline constexpr std::chrono::seconds repeat_pause{1};
inline constexpr std::chrono::seconds longest_repeat_pause{8};

/// A check asks the backend to tell of changes of the key (Request::watch) once its hold is older
/// than `watched_from`. The hold is checked for that by `watched_by` at the latest. Most holds end
/// earlier, so they cost nothing.
inline constexpr std::chrono::milliseconds watched_from{200};
inline constexpr std::chrono::milliseconds watched_by{500};

/// So much is left of a hold that a call begins with, so that a renewal can be answered. The second
/// is for one that is or was idle, and is left of each that is kept.
inline constexpr std::chrono::milliseconds least_rest{1'000};
inline constexpr std::chrono::milliseconds least_idle_rest{600};

/// A call that asked for `wanted` begins with a half of that, too.
[[nodiscard]] inline std::chrono::milliseconds least_rest_of(
    std::chrono::milliseconds wanted, std::chrono::milliseconds least = least_rest) noexcept {
  return std::min(wanted / 2, least);
}

/// A claim on the backend under one id: requested, held, and released once.
///
/// | stage     | meaning                                                | next stages             |
/// |-----------|--------------------------------------------------------|-------------------------|
/// | claim     | a waiting call requests it, perhaps many times         | held, releasing, erased |
/// | held      | granted; `local_holds()` share it; it may be `lost`    | retained, idle,         |
/// |           |                                                        | releasing               |
/// | idle      | no local hold; the next call takes it (IdleHold)       | held, releasing         |
/// | retained  | no local hold; it stays until `retention.until`        | releasing               |
/// | releasing | the release was sent, and is repeated until confirmed  | erased                  |
///
/// A hold is retained because of hold_for, or because its thread ended before it unlocked.
///
/// Any thread may read `deadline`, `lost`, `inherited`, `listens` and `revoked`, and the holder
/// what stays the same while it holds: `id`, `token`, `home`, `space`, `prefix_size`, permits().
/// All else belongs to the coordinator of its key.
class RemoteHold {
 public:
  enum class Stage : std::uint8_t { claim, held, idle, retained, releasing };

  /// Whether the backend has a hold under this id.
  enum class Presence : std::uint8_t {
    possible,  ///< it may have the hold
    gone,      ///< it said that it has none
    released,  ///< it confirmed the release
  };

  /// How far the change of a WRITE into a READ has come.
  ///
  /// | state   | meaning                                               | next states   |
  /// |---------|-------------------------------------------------------|---------------|
  /// | none    | the backend has what `type` says                      | wanted        |
  /// | wanted  | the WRITE has ended locally, its READs have not       | sent, none (a |
  /// |         |                                                       | WRITE enters) |
  /// | sent    | a downgrade was sent: the backend has either          | none, unsure  |
  /// | unsure  | a READ, unless a late copy of the acquire runs        | (stays)       |
  enum class Downgrade : std::uint8_t { none, wanted, sent, unsure };

  /// Whether the backend tells that other processes want a hold which this one may keep idle.
  ///
  /// | state   | meaning                                                    | next states     |
  /// |---------|------------------------------------------------------------|-----------------|
  /// | unasked | it was not asked to (Request::recall)                      | asked           |
  /// | asked   | it was, by this connection                                 | wanted, unasked |
  /// | wanted  | somebody waits, or it tells nothing: it is not kept        | (stays)         |
  enum class Recall : std::uint8_t { unasked, asked, wanted };

  /// How many local holds there are, by the mode in which they were granted.
  struct LocalCounts {
    std::uint32_t exclusive = 0;
    std::uint32_t shared = 0;

    [[nodiscard]] std::uint32_t& of(LockType taken) noexcept {
      return is_shared(taken) ? shared : exclusive;
    }
    [[nodiscard]] std::uint32_t total() const noexcept { return exclusive + shared; }
  };

  /// For how long the key stays locked after the last local hold has ended.
  struct Retention {
    /// Whether the backend ends a retained hold by itself at `until`.
    ///
    /// | state     | meaning                                             | next states     |
    /// |-----------|-----------------------------------------------------|-----------------|
    /// | unset     | the backend keeps the hold until its lease ends     | requested       |
    /// | requested | the `expire` was sent; without a reply it may have  | confirmed       |
    /// |           | run or not                                          |                 |
    /// | confirmed | the backend ends the hold at `until`                | (stays)         |
    enum class Expiry : std::uint8_t { unset, requested, confirmed };

    /// Set by hold_for of a local hold that has ended before others.
    Clock::time_point asked_until{};
    Clock::time_point until = Clock::never();  ///< never: it is not retained
    Expiry expiry = Expiry::unset;
  };

  // Read by any thread that has a local hold.
  LocalDeadline deadline{};
  std::atomic<bool> lost{false};
  std::atomic<bool> inherited{false};  ///< this process is a fork of the holder
  std::atomic<bool> listens{false};    ///< its holder wants to know whether it is revoked
  std::atomic<bool> revoked{false};    ///< somebody asked for the key while it was held
  HoldId id;
  std::uint64_t token = 0;
  Coordinator* home = nullptr;
  LockSpace* space = nullptr;   ///< dangles in a forked child that has destroyed its Locks
  std::size_t prefix_size = 0;  ///< CoordinatorSettings::prefix_size
  std::stop_source stop{std::nostopstate};  ///< without a state until somebody asks for its token
  std::stop_source revocation{std::nostopstate};  ///< as `stop`, for `revoked`

  // State.
  Stage stage = Stage::claim;
  LockType type = LockType::REENTRANT;
  Presence presence = Presence::possible;
  Downgrade downgrade = Downgrade::none;
  Recall recall = Recall::unasked;
  /// Held by an acquire of several keys that waits for others: the listener does not know of it.
  bool unreported = false;
  bool stop_pending = false;  ///< lost, but there was no memory to request the stop
  /// The listener knows of its release, or that it is unconfirmed; or it is left to those that have
  /// joined it, each of which has an end of its own.
  bool end_reported = false;
  bool held_too_long = false;  ///< lost because of held_at_most
  /// The calls that hold it may see its token. A claim: it asks for tokens.
  bool fenced = false;
  Owner owner = Owner::nobody();
  Origin origin{};  ///< Call::origin of the first call that was granted to `owner`

  // Calls that wait for it.
  Call* call = nullptr;              ///< claim: the waiting acquire; null once it gave up
  IntrusiveList<Call> renewals;      ///< held: extends and re-entries that need a longer lease
  Call* release_waiter = nullptr;    ///< releasing, retained, idle: waits for the outcome
  Call* downgrade_waiter = nullptr;  ///< held: waits for the downgrade

  // Links of the table of holds.
  RemoteHold* previous = nullptr;
  RemoteHold* next = nullptr;
  RemoteHold* same_bucket = nullptr;

  // Local holds.
  LocalCounts locks;            ///< taken by lock()
  LocalCounts holds;            ///< Hold objects
  std::uint32_t watchdogs = 0;  ///< those with the lease `watchdog`, joiners' included
  std::uint32_t pins = 0;       ///< acquires of several keys that have it renewed while they wait
  HoldLimits limits;            ///< held_at_most: those of the local holds

  // READs of several owners that share one hold at the backend.
  /// Held: the hold that it has joined, whose id and lease it shares, and which sends all requests.
  /// Null: none.
  RemoteHold* joined = nullptr;
  std::uint32_t joiners = 0;  ///< held: the holds that have joined it, and have not ended

  // The cohort: the calls that have held under this id, in turn or, READs, together.
  std::uint32_t hand_offs = 0;      ///< how often it was handed on
  std::uint32_t spare_tokens = 0;   ///< reserved and not given to a call yet
  Clock::time_point cohort_ends{};  ///< set by the first hand-off; for a READ, by the grant
  /// For how long it is kept idle, by the call that was granted it last; 0: not at all.
  std::chrono::milliseconds cache{};
  Clock::time_point idle_until{};  ///< idle: it is given back then
  Clock::time_point idle_bound{};  ///< not kept idle after this; zero: it was not yet

  // The lease.
  std::chrono::milliseconds lease{};     ///< last granted, or being requested
  std::chrono::milliseconds in_force{};  ///< the lease that `deadline` is the end of
  /// lock_delay: requests ask for so much more than the lease, in which the holder believes. It is
  /// the longest that the hold's calls have asked for. `delay_in_force`: the backend has granted
  /// this much.
  std::chrono::milliseconds delay{};
  std::chrono::milliseconds delay_in_force{};
  Clock::time_point granted_at{};
  /// Every lease, and every FAIR place, that a request gave this id has ended by then.
  Clock::time_point expires_at{};

  // The requests.
  AcquireProgress acquire;
  PlaceInLine place;
  CheckProgress check;
  ReleaseProgress release;
  Retention retention;
  std::string note{};           ///< describes the holder in all requests; empty: not at all
  Subscription subscription{};  ///< FAIR: each claim has a channel of its own

  // --- questions ---
  /// The hold that has the lease and sends the requests: itself, unless it has joined another.
  [[nodiscard]] RemoteHold& at_backend() noexcept { return joined != nullptr ? *joined : *this; }
  [[nodiscard]] const RemoteHold& at_backend() const noexcept {
    return joined != nullptr ? *joined : *this;
  }
  [[nodiscard]] bool is_shared_by_owners() const noexcept {
    return joined != nullptr || joiners > 0;
  }
  [[nodiscard]] std::uint32_t exclusive_holds() const noexcept {
    return locks.exclusive + holds.exclusive;
  }
  [[nodiscard]] std::uint32_t local_holds() const noexcept { return locks.total() + holds.total(); }
  [[nodiscard]] Clock::time_point deadline_point() const noexcept { return deadline.time(); }
  [[nodiscard]] bool is_lost(Clock::time_point now) const noexcept {
    return lost.load(std::memory_order_acquire) || deadline.passed_by(now);
  }
  [[nodiscard]] bool is_marked_lost() const noexcept {
    return lost.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool has_request_in_flight() const noexcept {
    return acquire.in_flight() || check.in_flight() || release.in_flight() ||
           subscription.in_flight();
  }
  [[nodiscard]] bool was_held() const noexcept { return granted_at != Clock::time_point{}; }
  [[nodiscard]] bool was_idle() const noexcept { return idle_bound != Clock::time_point{}; }
  /// The type of its local holds: READ once a downgrade is wanted.
  [[nodiscard]] LockType local_type() const noexcept {
    return awaits_downgrade() ? LockType::READ : type;
  }
  /// Whether the WRITE has ended locally and the backend has not confirmed that it is a READ.
  [[nodiscard]] bool awaits_downgrade() const noexcept {
    return downgrade == Downgrade::wanted || downgrade == Downgrade::sent;
  }
  /// Whether the backend may have either a WRITE or a READ.
  [[nodiscard]] bool type_is_unsure() const noexcept {
    return downgrade == Downgrade::sent || downgrade == Downgrade::unsure;
  }
  /// Whether it is held and nothing about it is under way, in doubt or waited for: without a local
  /// hold, its release is all that is left to do. A check with Request::recall is that of the hold
  /// while it was idle.
  [[nodiscard]] bool is_settled() const noexcept {
    const bool checks = check.in_flight() && !check.request.recall;
    return stage == Stage::held && !checks && !acquire.in_flight() && !release.in_flight() &&
           !subscription.in_flight() && acquire.trace == AcquireProgress::Trace::ran &&
           presence == Presence::possible && downgrade == Downgrade::none && subscription.ended() &&
           renewals.empty() && downgrade_waiter == nullptr &&
           retention.asked_until == Clock::time_point{};
  }
  /// Whether it was retained and has ended at the backend by `now`, with or without the release.
  [[nodiscard]] bool has_expired(Clock::time_point now) const noexcept {
    const bool ends_by_itself = retention.expiry == Retention::Expiry::confirmed;
    return retention.until != Clock::never() && (ends_by_itself || is_lost(now));
  }
  /// Whether a claim that is given up must be released, because an acquire may have left something.
  [[nodiscard]] bool may_be_at_backend() const noexcept {
    using Trace = AcquireProgress::Trace;
    if (acquire.in_flight() || acquire.trace >= Trace::refused) return true;
    if (acquire.trace != Trace::ran) return false;
    if (type == LockType::FAIR || place.number != 0) return true;
    return acquire.request.queues && type != LockType::PERMIT;
  }
  /// Whether no attempt of it has run or is under way: the backend has nothing to release.
  [[nodiscard]] bool never_ran() const noexcept {
    return acquire.trace == AcquireProgress::Trace::none && !acquire.in_flight();
  }
  /// The length of the lease that its next renewal asks for, unless its limit is nearer.
  [[nodiscard]] std::chrono::milliseconds period(
      std::chrono::milliseconds watchdog) const noexcept {
    if (watchdogs == 0) return lease;
    return has_limit() ? std::min(watchdog, longest_hold()) : watchdog;
  }
  /// Whether the backend has granted the whole lock_delay that its calls have asked for.
  [[nodiscard]] bool has_whole_delay() const noexcept { return delay_in_force >= delay; }
  /// Whether it was lost although nobody has released it, and a lock_delay keeps the key from
  /// others: the backend ends it.
  [[nodiscard]] bool is_left_to_expire() const noexcept {
    return delay.count() != 0 && is_marked_lost();
  }
  /// Whether held_at_most limits it.
  [[nodiscard]] bool has_limit() const noexcept { return limits.earliest() != Clock::never(); }
  /// Whether the holder has had it for as long as held_at_most allows.
  [[nodiscard]] bool has_reached_limit(Clock::time_point now) const noexcept {
    return now >= limits.earliest();
  }
  /// Whether it is lost, or about to be, because of held_at_most.
  [[nodiscard]] bool is_held_too_long(Clock::time_point now) const noexcept {
    return held_too_long || (!is_marked_lost() && has_reached_limit(now));
  }
  /// Whether no renewal can move its deadline, which is the end that held_at_most sets.
  [[nodiscard]] bool ends_at_limit() const noexcept {
    return has_limit() && deadline_point() >= limits.earliest();
  }
  /// has_limit(): the time from its grant to its limit.
  [[nodiscard]] std::chrono::milliseconds longest_hold() const noexcept {
    return std::chrono::ceil<std::chrono::milliseconds>(limits.earliest() - granted_at);
  }
  /// When the next tick is due for it; the calls that wait for it have alarms of their own.
  [[nodiscard]] Clock::time_point due() const noexcept;

  /// PERMIT: how many permits it has.
  [[nodiscard]] std::uint32_t permits() const noexcept { return acquire.request.permits.taken; }

  /// Set aside, so its own terms are plain: whether a hold with these terms would be the same, but
  /// for its id and its times.
  [[nodiscard]] bool has_terms(const AcquireTerms& terms) const noexcept {
    const bool by_lock = locks.total() != 0;
    const bool by_watchdog = watchdogs != 0;
    return owner == terms.owner && type == terms.type && by_lock == terms.by_lock &&
           by_watchdog == terms.lease.is_watchdog() && terms.is_plain() &&
           (by_watchdog || lease == terms.lease.length({})) && origin.site == terms.origin.site &&
           origin.key_template.data() == terms.origin.key_template.data() &&
           origin.key_template.size() == terms.origin.key_template.size();
  }

  [[nodiscard]] bool is_old_enough_to_watch(Clock::time_point at) const noexcept {
    return at >= later(granted_at, watched_from);
  }

  // --- changes ---
  void drop_watchdogs(std::uint32_t count) noexcept;
  /// Notes that it is lost because of held_at_most. The watchdog of the hold that it has joined no
  /// longer renews for it.
  void note_held_too_long() noexcept;
  void set_permits(const Permits& all) noexcept {
    acquire.request.permits = check.request.permits = release.request.permits = all;
  }
  /// Moves the deadline to the end of a lease that was `granted` by the request of `sent_at`, but
  /// not beyond its limit, and never back. False: a thread has seen it pass.
  [[nodiscard]] bool move_deadline(Clock::time_point sent_at,
                                   std::chrono::milliseconds granted) noexcept;
  /// The check was granted: notes its lock_delay, and moves the deadline.
  [[nodiscard]] bool move_deadline_by_check() noexcept {
    delay_in_force = check.request.lock_delay;
    return move_deadline(check.request.sent, check.lease_of_holder());
  }
  /// Sets the `note` that its requests carry from now on.
  void announce(std::string text) noexcept;
  /// Forgets what the holder was told of revocations, and that it wants to know.
  void end_revocation() noexcept {
    const bool told = revoked.load(std::memory_order_relaxed) || revocation.stop_possible();
    if (!told && !listens.load(std::memory_order_relaxed)) return;
    listens.store(false, std::memory_order_relaxed);
    revoked.store(false, std::memory_order_relaxed);
    revocation = std::stop_source(std::nostopstate);
  }
  /// Makes it as new, for ThreadCache.
  void reset() noexcept;
};

// Inline: part of every uncontended call.
inline void RemoteHold::reset() noexcept {
  deadline.clear();
  lost.store(false, std::memory_order_relaxed);
  token = 0;
  stop = std::stop_source(std::nostopstate);
  end_revocation();
  stage = Stage::claim;
  presence = Presence::possible;
  downgrade = Downgrade::none;
  recall = Recall::unasked;
  unreported = stop_pending = end_reported = held_too_long = fenced = false;
  if (has_limit()) limits.clear();
  call = release_waiter = downgrade_waiter = nullptr;
  renewals.clear();
  locks = holds = LocalCounts();
  watchdogs = pins = hand_offs = spare_tokens = 0;
  joined = nullptr;
  joiners = 0;
  granted_at = expires_at = idle_until = idle_bound = Clock::time_point{};
  acquire.state = AcquireProgress::State::idle;
  acquire.trace = AcquireProgress::Trace::none;
  acquire.poll_at = Clock::never();
  acquire.poll_pause = std::chrono::milliseconds(0);
  place.number = place.yielded = 0;
  place.near_front_since = Clock::never();
  place.behind_foreign = false;
  check.state = CheckProgress::State::idle;
  check.watch = CheckProgress::Watch::off;
  check.request.sent = Clock::time_point{};
  check.due_at = Clock::never();
  check.wanted = std::chrono::milliseconds(0);
  release.state = ReleaseProgress::State::idle;
  release.request.queues = false;
  release.request.id.number = 0;
  release.repeat_at = Clock::never();
  release.last_pause = std::chrono::milliseconds(0);
  retention = Retention();
  subscription.stage = Subscription::Stage::off;
  subscription.retry_at = Clock::never();
  if (!note.empty()) announce({});
}

/// The claim of a waiting call; null: it has none, or waits for a hold of its owner to be renewed.
[[nodiscard]] inline RemoteHold* claim_of(const Call& call) noexcept {
  return call.hold != nullptr && call.hold->call == &call ? call.hold : nullptr;
}

/// The end of a lease that was requested at `sent`, as its holder counts it: a hundredth of the
/// lease, at least 5 ms, is kept back, so the holder stops believing before the backend does.
[[nodiscard]] Clock::time_point end_of_lease(Clock::time_point sent,
                                             std::chrono::milliseconds lease) noexcept;

/// The lease to request at `sent` for a hold that is to end at `end`: end_of_lease of it is not
/// before `end`, and less than 2 ms after it.
[[nodiscard]] std::chrono::milliseconds lease_until(Clock::time_point end,
                                                    Clock::time_point sent) noexcept;

/// The last common time for checks that is not after `at`. It is earlier by less than an eighth of
/// `interval`, the time between two checks of a hold. The common times of a longer interval are
/// among those of a shorter one: they are multiples of a power of two, plus `phase`.
[[nodiscard]] Clock::time_point common_check_time(Clock::time_point at, Clock::duration interval,
                                                  Clock::duration phase) noexcept;

}  // namespace latchkey::inline v1::detail
// tidy: long-file because the state of a hold is one table
