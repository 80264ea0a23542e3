// The store of the memory backend as a pure state machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>

#include "core/key_table.hpp"

namespace latchkey::detail {

/// Who is told of what happens to a key. Called from within the request that caused the
/// notification: it must not call the table, and the key is valid only during the call.
class Subscriber {
 public:
  virtual void tell(const Notification& notification) noexcept = 0;

 protected:
  ~Subscriber() = default;
};

/// Everything that is known of one key: who holds it, who waits in its queue, who listens. The
/// table's own; a record exists only while one of the three is not empty.
struct LockRecord {
  struct Holder {
    HoldId id;
    Clock::time_point ends;
    std::uint64_t token;  // 0: none
  };
  struct Place {
    HoldId id;
    Clock::time_point ends;
  };
  struct Subscription {
    Subscriber* subscriber;
    HoldId id;  // number 0: hears of the key, else (FAIR) of this id in the queue
    friend bool operator==(const Subscription&, const Subscription&) noexcept = default;
  };
  enum class Mode : std::uint8_t { free, plain, write, read };
  [[nodiscard]] static Mode mode_of(LockType type) noexcept {
    if (type == LockType::READ) return Mode::read;
    return type == LockType::WRITE ? Mode::write : Mode::plain;
  }

  InlineString key;
  std::size_t hash = 0;
  LockRecord* next = nullptr;
  Mode mode = Mode::free;  // free exactly where there are no holders
  /// No holder and no place ends before this: until then there is nothing to purge.
  Clock::time_point first_end = Clock::never();
  std::vector<Holder> holders;
  std::vector<Place> queue;
  std::vector<Subscription> subscriptions;

  void hold(const HoldId& id, Clock::time_point ends, std::uint64_t token, Mode as) {
    holders.push_back({id, ends, token});
    mode = as;
    first_end = std::min(first_end, ends);
  }
  void enqueue(const HoldId& id, Clock::time_point ends);
  /// Where the lock is free, the first in the queue has `called_wait` to come and take it.
  void call_first(Clock::time_point now) noexcept;
  static constexpr std::chrono::seconds called_wait{5};
  void purge(Clock::time_point now) noexcept {
    if (first_end <= now) drop_ended(now);
  }
  void reset() noexcept;
  [[nodiscard]] bool held_by_nobody_but(const HoldId& id, LockType type,
                                        Clock::time_point now) const noexcept {
    return holders.size() == 1 && queue.empty() && subscriptions.empty() && first_end > now &&
           holders.front().id == id && mode == mode_of(type);
  }
  [[nodiscard]] bool idle() const noexcept {
    return holders.empty() && queue.empty() && subscriptions.empty();
  }

 private:
  void drop_ended(Clock::time_point now) noexcept;
};

/// Locks by key: every verb of the backend's table, one request at a time. It has no clock, mutex
/// or thread of its own and is deterministic: the same calls give the same answers.
///
/// What the table adds to the words of Verb:
/// - expired holds and places do not exist: they are dropped on sight, and a bucket of other keys
///   is looked through with every request but a plain release, so that none stays behind for want
///   of a visitor;
/// - an id holds as a plain lock, as a WRITE or as a READ: a renew, verify or release of one of
///   them finds nothing of the others, and a downgrade finds WRITE and READ;
/// - no request ever shortens a lease, a repeated acquire or downgrade neither;
/// - FAIR: a place in the queue ends `queue_wait` after its owner last asked, and that of the first
///   5 s after a FAIR request found or left the lock free. Only the first in the queue may take a
///   free lock; REENTRANT, FENCED, READ and WRITE pass by the queue;
/// - fencing tokens: max(previous + n, now in µs), where `previous` is that of the whole table, so
///   that nothing has to stay behind of a key. An acquire_all gives its FENCED members one and the
///   same token, and asked again by the holders of all of them the one that they have;
/// - `released` goes to whoever subscribed to the key when it comes free (or when its WRITE becomes
///   a READ), also where that shows only when an expired hold is dropped. A FAIR subscriber hears
///   it only when its own id is the first in the queue of a free lock, or has become the first of
///   one whose lease ends within 5 s.
///
/// `now` may go back a little between requests: a lease then lasts a little longer.
class LockTable {
 public:
  /// One attempt, complete: the outcome is final. `subscriber` is used by subscribe and unsubscribe
  /// and must live until it is forgotten. The keys of an acquire_all are distinct. Throws
  /// std::bad_alloc: the request then may have been carried out or not, and the table is sound.
  Outcome apply(const Request& request, Clock::time_point now, Subscriber* subscriber = nullptr) {
    Outcome outcome;
    apply(request, hash_key(request.key), now, subscriber, outcome);
    return outcome;
  }
  /// The same into `outcome`, which is as new.
  void apply(const Request& request, std::size_t hash, Clock::time_point now,
             Subscriber* subscriber, Outcome& outcome);

  /// The acquire_all of keys that lie in several tables: `table_of(hash)` says in which.
  template <class TableOf>
  static void acquire_all(const Request& request, Clock::time_point now, TableOf&& table_of,
                          Outcome& outcome);

  /// Ends all subscriptions of `subscriber`.
  void forget(const Subscriber& subscriber) noexcept;

  /// How many keys are held, waited for or listened to, those included that have expired unseen.
  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }

 private:
  /// What settle compares a record with.
  struct Before {
    LockRecord::Mode mode;
    HoldId first;
  };

  // Shortcuts for what happens most: a key that nobody has is taken, and a key that one owner has,
  // and nobody else waits for, is given back. False: nothing was done.
  bool take(const Request& request, std::size_t hash, Clock::time_point now);
  bool give_back(const Request& request, std::size_t hash, Clock::time_point now) noexcept;
  void apply_to_any(const Request& request, std::size_t hash, Clock::time_point now,
                    Subscriber* subscriber, Outcome& outcome);

  static Before snapshot(const LockRecord& record) noexcept;
  void settle(LockRecord& record, const Before& before, Clock::time_point now) noexcept;
  void sweep(Clock::time_point now) noexcept {
    if (records_.size() != 0) drop_some_ended(now);
  }
  void drop_some_ended(Clock::time_point now) noexcept;

  Outcome::Kind act(LockRecord& record, const Request& request, Clock::time_point now,
                    Subscriber* subscriber);
  void acquire(LockRecord& record, const Request& request, Clock::time_point now, Outcome& outcome);
  static void queue_up(LockRecord& record, const Request& request, Clock::time_point now,
                       Outcome& outcome);
  void list(const Request& request, Clock::time_point now);

  [[nodiscard]] std::uint64_t token_of(const Member& member, std::size_t hash) noexcept;
  bool blocks(const Member& member, std::size_t hash, Clock::time_point now, Outcome& outcome);
  void take(const Member& member, std::size_t hash, Clock::time_point ends, std::uint64_t token,
            Clock::time_point now);
  [[nodiscard]] std::uint64_t next_token(std::uint32_t tokens,
                                         Clock::time_point now) const noexcept;

  KeyTable<LockRecord> records_;
  std::uint64_t last_token_ = 0;
};

inline bool LockTable::take(const Request& request, std::size_t hash, Clock::time_point now) {
  sweep(now);
  if (request.type == LockType::FENCED || records_.find(request.key, hash) != nullptr) return false;
  LockRecord& record = records_.insert(request.key, hash);
  record.hold(request.id, later(now, request.lease), 0, LockRecord::mode_of(request.type));
  return true;
}

inline bool LockTable::give_back(const Request& request, std::size_t hash,
                                 Clock::time_point now) noexcept {
  LockRecord* const record = records_.find(request.key, hash);
  if (record == nullptr || !record->held_by_nobody_but(request.id, request.type, now)) return false;
  records_.erase(*record);
  return true;
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
  std::uint64_t token = 0, fresh = 0;
  for (std::size_t index = 0; index < request.members.size(); ++index) {
    const Member& member = request.members[index];
    const std::size_t hash = hash_key(member.key);
    LockTable& table = table_of(hash);
    if (table.blocks(member, hash, now, outcome)) {
      outcome.busy_member = static_cast<std::uint32_t>(index);
      return;
    }
    if (member.type != LockType::FENCED) continue;
    const std::uint64_t held = table.token_of(member, hash);
    token = std::max(token, held);
    const std::uint64_t next = table.next_token(request.tokens, now);
    if (held == 0) fresh = std::max(fresh, next);
  }
  if (fresh != 0) token = std::max(token + 1, fresh);
  for (const Member& member : request.members) {
    const std::size_t hash = hash_key(member.key);
    table_of(hash).take(member, hash, later(now, request.lease), token, now);
  }
  outcome.kind = Outcome::Kind::granted;
  outcome.token = token;
}

}  // namespace latchkey::detail
