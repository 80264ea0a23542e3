// The state of one key in the lock table, as a lock or as a semaphore.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <latchkey/backend.hpp>

#include "core/inline_string.hpp"

namespace latchkey::inline v1::detail {

/// Receives notifications about keys. Called from within the request that caused the notification:
/// it must not call the table, and the key is valid only during the call.
class Subscriber {
 public:
  virtual void notify(const Notification& notification) noexcept = 0;

 protected:
  ~Subscriber() = default;
};

/// The state of one key: holders, queues and subscriptions. For the table's own use; a record
/// exists only while one of these is not empty, a WRITE keeps READs out, or the key is a semaphore.
struct LockRecord {
  struct Holder {
    HoldId id;
    Clock::time_point ends;
    std::uint64_t token;        // 0: none
    std::uint32_t permits = 0;  // PERMIT: how many it has
    /// Its time was shortened: it lasts so long whatever becomes of its process.
    bool outlives_process = false;
    /// When it was last asked to release the lock. The minimum: it was not.
    Clock::time_point revoked = Clock::time_point::min();
  };
  struct Place {
    HoldId id;
    Clock::time_point ends;
    bool grantable;  ///< its lease is not less than that of a grant, and it wants no token
  };
  /// The place of a process that waits in line: the attempt that took it, and when it ends.
  struct Process {
    HoldId id;
    LockType type;
    std::chrono::milliseconds lease;
    std::uint32_t tokens;  // 0: it wants none
    std::uint64_t place;
    Clock::time_point ends;
  };
  struct Subscription {
    Subscriber* subscriber;
    HoldId id;            // number 0: for the key; else (FAIR) for this id in the queue
    bool grants = false;  // for grants to the processes of `id.space`
    friend bool operator==(const Subscription&, const Subscription&) noexcept = default;
  };
  enum class Mode : std::uint8_t { free, plain, write, read, permits };
  [[nodiscard]] static Mode mode_of(LockType type) noexcept {
    if (type == LockType::READ) return Mode::read;
    if (type == LockType::PERMIT) return Mode::permits;
    return type == LockType::WRITE ? Mode::write : Mode::plain;
  }

  InlineString key;
  std::size_t hash = 0;
  LockRecord* next = nullptr;
  Mode mode = Mode::free;  // free exactly if there are no holders
  /// How many permits the semaphore has; 0: the key is no semaphore.
  std::uint32_t total = 0;
  /// No lease, no place and no precedence of a WRITE ends before this: nothing is to be purged.
  Clock::time_point first_end = Clock::never();
  /// A WRITE waits: new READs are kept out until then. The minimum: none waits.
  Clock::time_point kept_for_writer = Clock::time_point::min();
  /// Until when an inspect tells of the last revocation.
  Clock::time_point revocation_ends = Clock::time_point::min();
  std::vector<Holder> holders;
  std::vector<Place> queue;
  std::vector<Process> processes;                    // the process queue
  Clock::time_point processes_end = Clock::never();  ///< when the last of their places ends
  /// Until then whoever comes may take the free lock, although processes wait in line.
  Clock::time_point turn_ends = Clock::time_point::min();
  /// The place of the process in front that was told of the free lock in this turn; 0: none.
  std::uint64_t called_place = 0;
  std::vector<Subscription> subscriptions;

  void hold(const HoldId& id, Clock::time_point ends, std::uint64_t token, Mode as) {
    holders.push_back({id, ends, token});
    mode = as;
    first_end = std::min(first_end, ends);
  }
  void enqueue(const Place& place);
  void keep_for_writer(Clock::time_point until) noexcept {
    kept_for_writer = std::max(kept_for_writer, until);
    first_end = std::min(first_end, kept_for_writer);
  }
  [[nodiscard]] bool is_kept_for_writer() const noexcept {
    return kept_for_writer != Clock::time_point::min();
  }
  /// If the lock is free, limits the place of the first in the queue to `called_wait` from now.
  void call_first(Clock::time_point now) noexcept;
  static constexpr std::chrono::seconds called_wait{5};
  void purge(Clock::time_point now) noexcept {
    if (first_end <= now) drop_ended(now);
  }
  void reset() noexcept;
  /// When the last of the holders' leases ends.
  [[nodiscard]] Clock::time_point last_end() const noexcept;
  /// The holders were asked to release it. describe() says so until the leases that run now end.
  void note_revocation(Clock::time_point now) noexcept;
  void describe(Clock::time_point now, LockInfo& info) const;
  [[nodiscard]] bool held_by_nobody_but(const HoldId& id, LockType type,
                                        Clock::time_point now) const noexcept {
    return holders.size() == 1 && nobody_waits() && first_end > now && holders.front().id == id &&
           mode == mode_of(type) && total == 0;
  }
  [[nodiscard]] bool idle() const noexcept {
    return holders.empty() && nobody_waits() && total == 0;
  }
  /// The free permits of a semaphore: negative if it was made smaller than what is taken.
  [[nodiscard]] std::int64_t available() const noexcept;
  /// Somebody holds it, or waits in line, as a lock.
  [[nodiscard]] bool is_lock() const noexcept {
    return (mode != Mode::free && mode != Mode::permits) || !queue.empty() || !processes.empty();
  }

 private:
  [[nodiscard]] bool nobody_waits() const noexcept {
    return queue.empty() && processes.empty() && subscriptions.empty() && !is_kept_for_writer();
  }
  void drop_ended(Clock::time_point now) noexcept;
};

/// Carries out a request of PERMIT, or any request about a record that has a semaphore. The record
/// is purged. For the table's own use.
void apply_to_semaphore(LockRecord& record, const Request& request, Clock::time_point now,
                        Outcome& outcome);

}  // namespace latchkey::inline v1::detail
