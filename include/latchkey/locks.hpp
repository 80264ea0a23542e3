// A connection to the backend that keeps locks.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/attempt.hpp>
#include <latchkey/capabilities.hpp>
#include <latchkey/count_down_latch.hpp>
#include <latchkey/list_page.hpp>
#include <latchkey/lock.hpp>
#include <latchkey/lock_info.hpp>
#include <latchkey/options.hpp>
#include <latchkey/owner.hpp>
#include <latchkey/read_write_lock.hpp>
#include <latchkey/semaphore.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

class Backend;
class Clock;
class Cron;
class Leader;
class OncePer;
struct Event;
struct LeaderOptions;
struct OncePerOptions;

namespace detail {
class LockAccess;
class LockSet;
class LockSpace;
}  // namespace detail

/// One connection to a backend, with everything that holds need: a queue per key, the timer that
/// renews leases, and the notifier that calls the listener. Thread-safe; copies refer to the same
/// Locks. Locks, Lock and Hold share ownership of the state: the connection closes when the last of
/// them is destroyed.
///
/// Threads start on demand: the timer when the first hold needs its deadline watched, the notifier
/// when there is the first event to deliver. After a fork, the child's Locks own nothing and have a
/// UUID of their own.
///
/// Keys that you give to latchkey, and keys that you get from it, are without Options::prefix: it
/// is put before a key on its way to the backend and removed on the way back. Only the texts of
/// errors name the key as the backend has it.
class Locks {
 public:
  /// Connects to `uri`, for example "memory:" or "redis://127.0.0.1:6379/0". Connects before it
  /// returns, so that an error is found here and not at the first lock; this may block for
  /// `options.command_timeout`. Throws std::invalid_argument for a malformed URI or invalid
  /// options, BackendUnavailable if nothing answers, and BackendRefused if the server rejects these
  /// Locks (a wrong password, a replica). With `options.startup = Startup::allow_down` a server
  /// that does not answer is not an error: the listener gets a warning, and locks are granted as
  /// soon as the server answers. A quorum never requires all of its servers to be up.
  static Locks connect(std::string_view uri, Options options = {});

  /// Uses a backend that you supply.
  explicit Locks(std::unique_ptr<Backend> backend, Options options = {});

  /// A handle to the lock of `key`; sends nothing. Throws KeyError for a key that is empty or that,
  /// with its prefix, is longer than 1 KiB, and std::invalid_argument for a type that the backend
  /// does not offer, and for PERMIT: that is semaphore().
  [[nodiscard]] Lock lock(std::string key, LockType type = LockType::REENTRANT) const;
  [[nodiscard]] ReadWriteLock read_write(std::string key) const;
  /// A handle to the semaphore of `key`; sends nothing. The first acquire makes the semaphore with
  /// `permits` permits; one that exists keeps the number it has. Throws KeyError as lock() does,
  /// and std::invalid_argument for fewer than 1 permit and if the backend offers no semaphores.
  [[nodiscard]] Semaphore semaphore(std::string key, int permits) const;

  /// A handle to the latch of `key`; sends nothing. Throws KeyError as lock() does, and
  /// std::invalid_argument if the backend offers no latches.
  [[nodiscard]] CountDownLatch count_down_latch(std::string key) const;

  /// Starts a Leader, which campaigns for the lock of `key` and runs `callback` while it leads
  /// (Leader::Callback); see latchkey/leader.hpp. The Leader keeps these Locks alive. Throws
  /// KeyError, std::invalid_argument for bad options, an empty callback, and a backend without
  /// FENCED locks (no other type has a term), and std::system_error if the system cannot create its
  /// threads.
  [[nodiscard]] Leader leader(
      std::string key,
      std::function<void(std::stop_token stop, std::uint64_t term)> callback) const;
  [[nodiscard]] Leader leader(
      std::string key, std::function<void(std::stop_token stop, std::uint64_t term)> callback,
      const LeaderOptions& options) const;

  /// A job that runs at most once for each multiple of `period`, in one of all processes; see
  /// latchkey/once_per.hpp. Sends nothing. Throws KeyError as lock() does, and
  /// std::invalid_argument for a bad period or options, and for a backend that cannot keep a key
  /// locked after its process has ended (Capabilities::expires), or not for so long.
  [[nodiscard]] OncePer once_per(std::string key, std::chrono::milliseconds period) const;
  [[nodiscard]] OncePer once_per(std::string key, std::chrono::milliseconds period,
                                 const OncePerOptions& options) const;
  /// A job that runs at most once for each instant of a cron expression, for example
  /// `locks.once_per("nightly", latchkey::Cron("30 2 * * *", "Europe/Berlin"))`, in one of all
  /// processes. OncePerOptions::offset is 0, clock_error at most 1 min and start_within at most
  /// 1 day, which is its default: a run may begin until the next instant, and for a day at most.
  /// Sends nothing. Throws what the function with a period throws.
  [[nodiscard]] OncePer once_per(std::string key, const Cron& cron) const;
  [[nodiscard]] OncePer once_per(std::string key, const Cron& cron,
                                 const OncePerOptions& options) const;

  /// Combines several locks into one: it is held when all are held, lost when one is lost, and all
  /// are released together. Types may differ, and the locks may come from different Locks; a lock
  /// without an owner of its own uses the owner of this Locks. A lock that occurs twice is acquired
  /// once. The deadline of a hold is the earliest of its members'. Throws KeyError for no lock at
  /// all, for more than 1 000, and for one key with two types.
  ///
  /// All callers acquire keys in the same order (by their bytes, then by backend). Callers that
  /// hold no other locks therefore never deadlock, in whichever order they list the locks. This is
  /// not promised to callers that hold other locks meanwhile, nor between processes that spell a
  /// backend's URI differently.
  [[nodiscard]] Lock all_of(std::vector<Lock> locks) const;

  /// One acquire with all its options; LOCKED calls this. Only the prefix is added to `key`. Throws
  /// what Lock::acquire throws, and Cancelled.
  Hold acquire(std::string_view key, const Attempt& attempt) const;
  /// Like acquire(), but returns nullopt instead of throwing LockTimeout.
  [[nodiscard(
      "latchkey: a lock is held for as long as its Hold lives: if (auto hold = "
      "locks.try_acquire(...)) { ... }")]] std::optional<Hold>
  try_acquire(std::string_view key, const Attempt& attempt) const;

  /// Like acquire(), for several keys at once with the rules of all_of. Throws KeyError if `keys`
  /// is empty.
  Hold acquire_all(std::span<const std::string> keys, const Attempt& attempt) const;
  Hold acquire_all(std::span<const std::string_view> keys, const Attempt& attempt) const;
  std::optional<Hold> try_acquire_all(std::span<const std::string> keys,
                                      const Attempt& attempt) const;
  std::optional<Hold> try_acquire_all(std::span<const std::string_view> keys,
                                      const Attempt& attempt) const;

  /// Returns these Locks with another owner; see Owner.
  [[nodiscard]] Locks with_owner(Owner owner) const;

  /// The backend's state of `key`. This function and those down to force_release throw
  /// BackendUnavailable and BackendRefused.
  [[nodiscard]] LockInfo inspect(std::string_view key) const;
  /// The backend's states of several keys, in the order of `keys`. The requests share one trip to
  /// the server.
  [[nodiscard]] std::vector<LockInfo> inspect_all(std::span<const std::string> keys) const;
  /// The locked keys that match the glob `pattern` (`*`, `?`, `[…]`), among those with the prefix.
  [[nodiscard]] std::vector<std::string> list(std::string_view pattern = "*") const;
  /// A part of list(), for stores with many keys: examines about `budget` keys, beginning at
  /// `from`. Continue at ListPage::next.
  [[nodiscard]] ListPage list_page(std::string_view pattern, ListCursor from = {},
                                   std::uint32_t budget = 256) const;
  /// The keys that match `pattern` and that somebody waits for, most waiters first, at most
  /// `budget` of each server: without examining other keys. Throws BackendRefused also if the
  /// backend has no such list.
  [[nodiscard]] ListPage list_awaited(std::string_view pattern = "*", ListCursor from = {},
                                      std::uint32_t budget = 256) const;
  /// Ends the hold with the id `holder`, as HolderInfo::id shows it, and no other. Returns false if
  /// that holder does not hold the lock. It notices the loss at its next check, or at once if the
  /// backend watches its key (Capabilities::watches). Throws std::invalid_argument if `holder` is
  /// not an id.
  bool release_holder(std::string_view key, std::string_view holder) const;
  /// Asks the holders of the lock to release it: Hold::revoked() of those that listen becomes true.
  /// Nobody is forced, and no hold ends. Returns how many Locks were told, usually one for each
  /// process: 0 if nobody holds the lock, or if no holder listens. Throws std::invalid_argument if
  /// the backend offers no revocation: memory:, host: and redis: do.
  std::size_t revoke(std::string_view key) const;
  /// Ends every hold of the lock, whoever the holders are. Returns false if nobody held it. A
  /// holder notices the loss as after release_holder.
  bool force_release(std::string_view key) const;

  /// Stops granting locks: waiters end with Closed. Holders have `drain` to release; holds that
  /// remain after it are released here and are lost to their holders. One with a lock_delay is not
  /// released before its holder does so, or its lease and the delay have ended. Returns when every
  /// release has a reply, or after Options::command_timeout more. A key that hold_for keeps locked
  /// stays locked for that time, if the backend supports `expire`. The listener has received all
  /// events when this returns, and is not called afterwards: it may be destroyed then.
  void close(std::chrono::milliseconds drain) const;

  /// The options that these Locks were made with.
  [[nodiscard]] const Options& options() const noexcept;

  /// The clock of these Locks.
  [[nodiscard]] Clock& clock() const noexcept;

  /// Publishes an event to the listener, after all earlier events. For aspects that keep an error
  /// from their caller. Does nothing without a listener.
  void publish(const Event& event) const noexcept;

  /// Waits until the listener has received all events so far, at most `patience` of real time.
  /// Returns false if it has not, or if the listener itself makes this call.
  bool flush(std::chrono::milliseconds patience) const;

  /// Scheme, host, port and database, for messages.
  [[nodiscard]] std::string describe() const;
  /// The capabilities of the backend: its lock types, and the leases that it takes.
  [[nodiscard]] Capabilities capabilities() const noexcept;

 private:
  friend class detail::LockAccess;
  friend class detail::LockSpace;
  Locks(std::shared_ptr<detail::SpaceRef> space, std::optional<Owner> owner);
  [[nodiscard]] ListPage list_part(std::string_view pattern, ListCursor from, std::uint32_t budget,
                                   bool awaited) const;
  [[nodiscard]] Lock handle(std::string key, LockType type) const;
  [[nodiscard]] detail::LockSet several(std::span<const std::string_view> keys,
                                        LockType type) const;
  [[nodiscard]] std::optional<Hold> acquire_all_at_once(std::span<const std::string_view> keys,
                                                        const Attempt& attempt) const;

  std::shared_ptr<detail::SpaceRef> space_;
  std::optional<Owner> owner_;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
