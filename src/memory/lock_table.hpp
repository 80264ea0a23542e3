// The store of the memory backend as a pure state machine.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <latchkey/backend.hpp>
#include <latchkey/capabilities.hpp>

#include "core/key_table.hpp"
#include "memory/lock_record.hpp"

namespace latchkey::inline v1::detail {

/// Locks by key: applies every verb of a backend, one request at a time. It has no clock, mutex or
/// thread and is deterministic: the same calls give the same outcomes.
///
/// The table refines the semantics of Verb:
/// - Expired holds and places do not exist: they are dropped when a request finds them. Every
///   request except an uncontended release also purges one bucket of other keys, so that no record
///   stays only because nobody uses its key.
/// - An id holds as a plain lock, as a WRITE or as a READ: a renew, verify or release of one of
///   them does not find the others, and a downgrade finds WRITE and READ.
/// - No request except expire, release, leave and force_release shortens a lease; a repeated
///   acquire or downgrade does not.
/// - FAIR: a place in the queue ends `queue_wait` after its owner's last attempt, and the place of
///   the first ends at most 5 s after a FAIR request found or left the lock free. A FAIR release or
///   leave, or a force_release, grants the free lock to the first for `fair_grant_lease` if that
///   one subscribes and asks for no shorter lease. Among FAIR requests, only the first in the queue
///   may take a free lock; REENTRANT, FENCED, READ and WRITE bypass the queue.
/// - The process queue: an acquire with `queues` that is busy keeps its place or gets the last. A
///   place ends 3 s after the last attempt for it: whatever looks for the first process drops it,
///   and asks its process to try again, as `released`. A release, leave or force_release that frees
///   the lock grants it to the first process that subscribes to grants, for at most `grant_lease`,
///   unless others subscribe to the key: then these and the first are notified. An acquire of
///   REENTRANT, FENCED or WRITE that finds the lock free grants it to the first, too, unless that
///   is itself.
/// - Turns: a process that got the lock from the queue has a turn, as has one that held it when the
///   queue began. Until that ends a release leaves the lock free, calls the first process once
///   (`released`, with its id), and any request may take it. A table without turns hands over with
///   each release.
/// - A WRITE that READs keep waiting keeps new READs out for `queue_wait` after its last attempt.
/// - Fencing tokens: max(previous + n, now in µs). `previous` is that of the whole table, so that
///   no state of a key must be kept. An acquire_all gives the members that want one the same token;
///   if their holders repeat it, they get the token that they have.
/// - `released` goes to the subscribers of a key when it becomes free (or when its WRITE becomes a
///   READ), even if this is only found when an expired hold is dropped. A FAIR subscriber gets it
///   only if its own id is the first in the queue of a free lock, or has become the first in the
///   queue of a lock whose lease ends within 5 s.
///
/// - A revoke notes for inspect that the holders were asked, and notifies nobody.
/// - A key with a semaphore is no lock, and refuses to be one, until force_release deletes it.
///   `released` goes to its subscribers when more permits are available than before, and some are.
///
/// `now` may decrease a little between requests: a lease then lasts a little longer.
class LockTable {
 public:
  /// `turn`: how long a turn lasts; zero: there are none.
  explicit LockTable(Clock::duration turn = Clock::duration::zero()) noexcept : turn_(turn) {}

  /// The capabilities of a backend with these rules that has a CountTable and a RevocationTable,
  /// too.
  [[nodiscard]] static Capabilities capabilities() noexcept {
    Capabilities offered;
    offered.fair = offered.read_write = offered.fenced = offered.tokens = offered.permits = true;
    offered.one_step = Capabilities::OneStep::all;
    offered.latches = offered.pushes = offered.grants = offered.in_order = offered.administration =
        offered.expires = offered.revocation = true;
    return offered;
  }

  /// One complete attempt: the outcome is final. subscribe and unsubscribe use `subscriber`, which
  /// must live until forget() is called for it. The keys of an acquire_all are distinct. Throws
  /// std::bad_alloc; the request may or may not have been carried out then, and the table stays
  /// valid.
  Outcome apply(const Request& request, Clock::time_point now, Subscriber* subscriber = nullptr) {
    Outcome outcome;
    apply(request, hash_key(request.key), now, subscriber, outcome);
    return outcome;
  }
  /// Like apply() above; `outcome` is newly made.
  void apply(const Request& request, std::size_t hash, Clock::time_point now,
             Subscriber* subscriber, Outcome& outcome);

  /// Carries out an uncontended acquire: the key has no record, and the type is neither FENCED nor
  /// PERMIT. False: nothing is done. Throws std::bad_alloc and then nobody holds the key.
  bool take(const Request& request, std::size_t hash, Clock::time_point now);
  /// Carries out an uncontended release: the key has one holder, and no waiters. False: nothing is
  /// done.
  bool give_back(const Request& request, std::size_t hash, Clock::time_point now) noexcept;

  /// An acquire_all of keys in several tables; `table_of(hash)` returns the table of a key.
  template <class TableOf>
  static void acquire_all(const Request& request, Clock::time_point now, TableOf&& table_of,
                          Outcome& outcome);

  [[nodiscard]] static std::size_t hash_of(const Member& member) noexcept {
    return member.hash != 0 ? member.hash : hash_key(member.key);
  }

  /// Ends all subscriptions of `subscriber`.
  void forget(const Subscriber& subscriber) noexcept;

  // --- for a store that keeps the records elsewhere, and brings those of one request here ---
  [[nodiscard]] LockRecord* find(std::string_view key, std::size_t hash) const noexcept {
    return records_.find(key, hash);
  }
  /// An empty record of a key that has none here. Throws std::bad_alloc.
  LockRecord& bring(std::string_view key, std::size_t hash) { return records_.insert(key, hash); }
  void take_away(LockRecord& record) noexcept { records_.erase(record); }
  /// Grants a lock that is free to the first process in line if the turn is over.
  void end_turn(LockRecord& record, Clock::time_point now);
  /// The last fencing token, and the last number of a place, a FAIR reply or a FAIR grant.
  struct Numbers {
    std::uint64_t token = 0, place = 0;
  };
  [[nodiscard]] Numbers numbers() const noexcept { return {last_token_, last_place_}; }
  void continue_from(const Numbers& last) noexcept {
    last_token_ = last.token;
    last_place_ = last.place;
  }

  /// The number of keys with a holder, a queue or a subscription, including expired ones that are
  /// not yet dropped.
  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }

 private:
  /// The state of a record before a request, for settle.
  struct Before {
    LockRecord::Mode mode;
    HoldId first;
    std::int64_t available;  ///< a semaphore's free permits
  };

  void apply_to_any(const Request& request, std::size_t hash, Clock::time_point now,
                    Subscriber* subscriber, Outcome& outcome);

  static Before snapshot(const LockRecord& record) noexcept;
  /// Notifies the subscribers of what has changed, and erases an idle record. Returns how many
  /// subscribers to the key were notified.
  std::uint32_t settle(LockRecord& record, const Before& before, Clock::time_point now) noexcept;
  void sweep(Clock::time_point now) noexcept {
    if (records_.size() != 0) drop_some_ended(now);
  }
  void drop_some_ended(Clock::time_point now) noexcept;

  Outcome::Kind act(LockRecord& record, const Request& request, Clock::time_point now,
                    Subscriber* subscriber);
  void acquire(LockRecord& record, const Request& request, Clock::time_point now, Outcome& outcome);
  std::uint64_t take_place(LockRecord& record, const Request& request, Clock::time_point now);
  /// Drops the places in front that have ended, as far as that of `until`.
  static void drop_ended_places(LockRecord& record, const HoldId& until, Clock::time_point now);
  void begin_turn(LockRecord& record, Clock::time_point now) const noexcept {
    if (turn_ == Clock::duration::zero()) return;  // the next request may have an earlier time
    record.turn_ends = later(now, turn_);
    record.called_place = 0;
  }
  /// Tells the first process, once in a turn, that the lock is free.
  static void call_first_process(LockRecord& record);
  /// Grants the free lock to the first process in front of `until` that subscribes to grants.
  /// False: there is none.
  bool grant_first(LockRecord& record, const HoldId& until, Clock::time_point now);
  void pass_on(LockRecord& record, const HoldId& releaser, std::uint32_t notified,
               Clock::time_point now);
  /// Sets busy until `end`; the text names the first holder, and is empty if only a queue blocks.
  static void set_busy(Outcome& outcome, const LockRecord& record, Clock::time_point end,
                       Clock::time_point now);
  /// The number of a place in line, and of a FAIR reply or grant: it only rises.
  [[nodiscard]] std::uint64_t next_place(Clock::time_point now) noexcept;
  /// The queue of FAIR is next: a request has freed the lock, or the first in the queue has left.
  void call_next(LockRecord& record, Clock::time_point now);
  void queue_up(LockRecord& record, const Request& request, Clock::time_point now,
                Outcome& outcome);
  void list(const Request& request, Clock::time_point now);

  [[nodiscard]] std::uint64_t token_of(const Member& member, std::size_t hash) noexcept;
  bool blocks(const Member& member, std::size_t hash, Clock::time_point now, Outcome& outcome);
  void take(const Member& member, std::size_t hash, Clock::time_point ends, std::uint64_t token,
            Clock::time_point now);
  [[nodiscard]] std::uint64_t next_token(std::uint32_t tokens,
                                         Clock::time_point now) const noexcept;

  Clock::duration turn_;
  KeyTable<LockRecord> records_;
  std::uint64_t last_token_ = 0;
  std::uint64_t last_place_ = 0;
};

// Not inlined: as parts of one function their variables would not fit into the registers.

[[gnu::noinline]] inline bool LockTable::take(const Request& request, std::size_t hash,
                                              Clock::time_point now) {
  sweep(now);
  const bool is_simple = !request.wants_token() && request.type != LockType::PERMIT;
  if (!is_simple || records_.find(request.key, hash) != nullptr) return false;
  LockRecord& record = records_.insert(request.key, hash);
  record.hold(request.id, later(now, request.lease), 0, LockRecord::mode_of(request.type));
  return true;
}

[[gnu::noinline]] inline bool LockTable::give_back(const Request& request, std::size_t hash,
                                                   Clock::time_point now) noexcept {
  return records_.erase_if(request.key, hash, [&](const LockRecord& record) {
    return record.held_by_nobody_but(request.id, request.type, now);
  });
}

inline void LockTable::apply(const Request& request, std::size_t hash, Clock::time_point now,
                             Subscriber* subscriber, Outcome& outcome) {
  if ((request.verb == Verb::acquire && take(request, hash, now)) ||
      (request.verb == Verb::release && give_back(request, hash, now))) {
    outcome.kind = Outcome::Kind::granted;
  } else {
    apply_to_any(request, hash, now, subscriber, outcome);
  }
}

template <class TableOf>
void LockTable::acquire_all(const Request& request, Clock::time_point now, TableOf&& table_of,
                            Outcome& outcome) {
  const bool uncontended = std::ranges::all_of(request.members, [&](const Member& member) {
    const std::size_t hash = hash_of(member);
    return !member.wants_token() && table_of(hash).records_.find(member.key, hash) == nullptr;
  });
  if (uncontended) {
    const Clock::time_point ends = later(now, request.lease);
    for (const Member& member : request.members) {
      const std::size_t hash = hash_of(member);
      LockRecord& record = table_of(hash).records_.insert(member.key, hash);
      record.hold(member.id, ends, 0, LockRecord::mode_of(member.type));
    }
    outcome.kind = Outcome::Kind::granted;
    return;
  }
  // The largest token of the members' holds; a new one, if a member that wants one has none.
  std::uint64_t token = 0, fresh = 0;
  for (std::size_t index = 0; index < request.members.size(); ++index) {
    const Member& member = request.members[index];
    const std::size_t hash = hash_of(member);
    LockTable& table = table_of(hash);
    if (table.blocks(member, hash, now, outcome)) {
      outcome.busy_member = static_cast<std::uint32_t>(index);
      return;
    }
    if (!member.wants_token()) continue;
    const std::uint64_t held = table.token_of(member, hash);
    token = std::max(token, held);
    const std::uint64_t next = table.next_token(request.tokens, now);
    if (held == 0) fresh = std::max(fresh, next);
  }
  if (fresh != 0) token = std::max(token + 1, fresh);
  for (const Member& member : request.members) {
    const std::size_t hash = hash_of(member);
    table_of(hash).take(member, hash, later(now, request.lease), token, now);
  }
  outcome.kind = Outcome::Kind::granted;
  outcome.token = token;
}

}  // namespace latchkey::inline v1::detail
