// The judges' record of a simulation: every attempt, every hold and every key.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testing/simulator/judges/observation.hpp"
#include "testing/simulator/world/process.hpp"
#include "testing/simulator/world/sim_clock.hpp"

namespace latchkey::inline v1::sim {

inline constexpr Clock::duration never_happened = Clock::duration::min();

/// A lock that a caller was granted and has not released.
struct GrantedHold {
  std::uint32_t client = 0;
  std::uint32_t caller = 0;
  std::uint64_t owner = 0;
  RemoteHold* hold = nullptr;
  std::uint64_t number = 0;  ///< the number of the hold's id
  LockType type = LockType::REENTRANT;
  bool by_lock = false;  ///< taken by lock(), not as a Hold
  bool by_watchdog = false;
  bool fenced = false;  ///< its caller sees its token
  bool pinned = false;  ///< one of several keys of which others are still awaited
  bool seen_lost = false;
  bool excused = false;       ///< a fault of the store took it away
  std::uint32_t permits = 0;  ///< semaphore: how many it has
  /// The longest lease that its owner has asked for while it held; 0: not known, or the watchdog's.
  Clock::duration asked{};
  Clock::time_point deadline{};
  Clock::duration delay{};       ///< lock_delay
  HoldLimits::Number limit = 0;  ///< the number of its limit
  Clock::time_point limit_end = Clock::never();
  bool is_first = false;          ///< no other local hold shared it then
  bool was_lost = false;          ///< at the last look
  bool was_alone = true;          ///< at the last look no other local hold shared it
  bool may_end_by_limit = false;  ///< it, or one that shares it, has a limit, or had one
  /// The hold as the observations have it: `word` is set if lost() contradicts the deadline.
  struct Observed {
    std::int64_t number = 0;
    Clock::time_point deadline{};
    std::string_view word = "none";
  };
  Observed observed{};

  [[nodiscard]] bool shares_id_with(const GrantedHold& other) const noexcept {
    return client == other.client && number == other.number;
  }
  [[nodiscard]] std::string name() const {
    return "client " + std::to_string(client) + " hold " + std::to_string(number);
  }
};

/// The requests and answers for one hold id.
struct AttemptRecord {
  Clock::time_point latest_deadline = Clock::time_point::min();  ///< by the store's answers
  /// The reply that gave it: when its request was sent, for which lease, and when it arrived.
  Clock::time_point reply_sent{};
  Clock::duration reply_lease{};
  Clock::duration reply_at{};
  Clock::duration submitted_at{};   ///< an earlier loss at the store excuses no conflict
  std::uint64_t token = 0;          ///< the last of those that were reserved
  std::uint64_t earlier_token = 0;  ///< the one before, if a copy of the request was given others
  std::uint64_t tokens = 1;         ///< how many were reserved
  LockType type = LockType::REENTRANT;
  Clock::duration lease{};
  /// When the last attempt that was answered with a place in the process queue was sent.
  Clock::time_point place_sent = Clock::time_point::min();
  std::uint64_t place = 0;
  std::vector<std::pair<std::uint64_t, Clock::duration>> grants;  ///< by releases: place, when
  bool release_submitted = false;
  bool was_held = false;  ///< a call was granted it
  /// A copy of an acquire was granted it, whose own reply says otherwise: nobody knows of it, and
  /// it ends with its lease.
  bool granted_to_copy = false;
  Clock::duration left_at = never_happened;  ///< when a local hold of it ended, if none began since
  /// When the store was first asked to tell of those who wait.
  Clock::duration recall_asked = never_happened;
};

struct ClientHistory {
  const SimClock* clock = nullptr;
  std::vector<AttemptRecord> attempts;  ///< by the number of the hold id
  Clock::duration disturbed_at = never_happened;
  Clock::duration awake_since{};
  std::vector<int> open_releases;              ///< by key: calls of the client wait for them
  std::vector<Clock::duration> stalled_since;  ///< by key: the local queue waits without a reason
  bool closing = false;
};

struct KeyHistory {
  /// The last local hold ended and the lock is retained: hold_for, or a thread that ended.
  struct Retained {
    std::uint32_t client;
    std::uint64_t number;
    LockType type;
    Clock::time_point until;  ///< by that client's clock
    bool excused;
    std::uint32_t permits;
    /// It may last that long, if a renewal was under way.
    Clock::time_point asked_until = until;
  };
  struct Holder {
    std::uint32_t client;
    std::uint64_t number;
    bool operator==(const Holder&) const noexcept = default;
  };
  struct Waiter {
    std::uint32_t client;
    std::uint32_t caller;
    Clock::duration since;
  };

  std::vector<GrantedHold> holds;
  std::vector<Retained> retained;
  /// The process of a hold with a lock_delay crashed: nobody is granted the key until it is over.
  std::vector<Retained> delayed;
  std::vector<Waiter> waiters;
  Clock::duration fault_at = never_happened;
  std::uint64_t faults = 0;       ///< how many the store had
  std::uint64_t token = 0;        ///< the last one that was issued
  std::uint64_t shown_token = 0;  ///< the last one that a caller got
  std::int64_t grants = 0;        ///< how many calls were granted
  std::vector<Observation> observations;

  // Only in scenarios without faults: there the store's replies determine the holder.
  /// Since when a client other than this waits in line.
  [[nodiscard]] Clock::duration waited_for_since(std::uint32_t client) const noexcept {
    for (const auto& [holder, since] : in_line) {
      if (holder.client != client) return since;
    }
    return never_happened;
  }
  std::vector<Holder> holders;
  std::vector<Holder> queue;               ///< FAIR, in the order of the first attempts
  std::vector<Holder> granted_by_release;  ///< FAIR, while the release is carried out
  /// The grants by releases, and their times, until the client knows of them.
  std::vector<std::pair<Holder, Clock::duration>> unnoticed;
  Clock::duration free_since = never_happened;
  /// Who waits in the process queue, and since when.
  std::vector<std::pair<Holder, Clock::duration>> in_line;
  /// Until then a WRITE that waits may keep new READs out.
  Clock::duration kept_for_writer = never_happened;
};

/// Written by callers and judges. It does not depend on what coordinators or the store say of
/// themselves.
class History {
 public:
  History(std::size_t client_count, std::size_t key_count);

  [[nodiscard]] AttemptRecord& attempt(std::uint32_t client, std::uint64_t number);
  [[nodiscard]] bool is_live(const GrantedHold& hold) const;
  /// The end of its lock_delay, by the clock of its client, which may be a little slow.
  [[nodiscard]] static Clock::time_point end_of_delay(const GrantedHold& hold);
  /// Whether it is lost, its holder has not released it, and its lock_delay lasts.
  [[nodiscard]] bool is_delayed(const GrantedHold& hold) const;

  /// The store lost what it had of this key, or its clock jumped forward.
  void store_fault(std::uint32_t key, Clock::duration now);
  void disturbed(std::uint32_t client, Clock::duration now);
  /// The client closes its Locks: what it retained is released.
  void closing(std::uint32_t client);
  /// Another process takes the place of the client's.
  void crashed(std::uint32_t client);
  void starts_waiting(std::uint32_t key, const KeyHistory::Waiter& waiter);
  void stops_waiting(std::uint32_t key, std::uint32_t client, std::uint32_t caller);

  /// Records a step that the users of `key` see, if the history `observes`.
  void observe(std::uint32_t key, Clock::duration now, std::string_view kind,
               std::initializer_list<Observation::Argument> arguments);
  /// Converts a time by the clock of a client to that of observations.
  [[nodiscard]] std::int64_t local_time(std::uint32_t client, Clock::time_point time) const;

  std::vector<ClientHistory> clients;
  std::vector<KeyHistory> keys;
  bool observes = false;

  /// How many permits of a semaphore are held by holders that do not know of a loss, or kept for a
  /// while or by a lock_delay, beside those of the hold with that number.
  [[nodiscard]] std::uint32_t permits_held(const KeyHistory& key, std::uint32_t client,
                                           std::uint64_t number) const;
};

}  // namespace latchkey::inline v1::sim
