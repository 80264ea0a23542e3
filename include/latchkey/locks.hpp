// A place where locks live.
#pragma once

#include <latchkey/cxx20.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/attempt.hpp>
#include <latchkey/lock.hpp>
#include <latchkey/lock_info.hpp>
#include <latchkey/options.hpp>
#include <latchkey/owner.hpp>
#include <latchkey/read_write_lock.hpp>

namespace latchkey {

class Backend;
class Clock;
struct Event;

namespace detail {
class LockSet;
class LockSpace;
}  // namespace detail

/// One connection to a place where locks live, with everything that holds need: a queue per key,
/// the watchdog's timer, the notifier. Thread-safe; copies are the same Locks. Locks, Lock and Hold
/// keep the shared state alive: the last of them to go closes the connection.
///
/// No thread runs until the first hold needs its deadline watched (the timer) or somebody must be
/// told of something (the notifier). After a fork, the child's Locks own nothing and have a UUID of
/// their own.
class Locks {
 public:
  /// Locks at `uri`, for example "memory:" or "redis://127.0.0.1:6379/0". Connects before it
  /// returns, so a mistake shows here and not at the first lock: it may wait for
  /// `options.command_timeout`. Throws std::invalid_argument for a URI or options that make no
  /// sense, BackendUnavailable if nothing answers, and BackendRefused if the server will not serve
  /// these Locks (a wrong password, a replica). With `options.startup = Startup::allow_down` a
  /// server that does not answer is no error: the listener is warned, and locks are granted as soon
  /// as it answers. Of a quorum's servers those that do not answer may come later in any case.
  static Locks connect(std::string_view uri, Options options = {});

  /// Locks over a backend of your own.
  explicit Locks(std::unique_ptr<Backend> backend, Options options = {});

  /// Throws KeyError for a key that is empty or longer than 1 KiB with its prefix, and
  /// std::invalid_argument for a type that the backend does not offer.
  [[nodiscard]] Lock lock(std::string key, LockType type = LockType::REENTRANT) const;
  [[nodiscard]] ReadWriteLock read_write(std::string key) const;

  /// Several locks as one: held when all are held, lost when one is lost, given back together.
  /// Types may differ, and so may the Locks that they come from; one that has no owner of its own
  /// takes this Locks'. A lock that is named twice is taken once. A hold of it ends with its
  /// earliest member. Throws KeyError: no lock at all, more than 1 000, one key with two types.
  ///
  /// Everybody takes keys in the same order (by their bytes, then by backend), so callers that hold
  /// nothing else never deadlock, in whichever order they name them. That is not promised to
  /// callers who hold other locks meanwhile, nor between processes that spell a backend's URI
  /// differently.
  [[nodiscard]] Lock all_of(std::vector<Lock> locks) const;

  /// One acquire with everything that can be told it: what LOCKED calls. `key` is taken as it is
  /// apart from the prefix. Throws what Lock::acquire throws, and Cancelled.
  Hold acquire(std::string_view key, const Attempt& attempt) const;
  /// The same; nullopt where acquire throws LockTimeout.
  std::optional<Hold> try_acquire(std::string_view key, const Attempt& attempt) const;

  /// The same for several keys at once, as all_of takes them. Throws KeyError where there is none.
  Hold acquire_all(std::span<const std::string> keys, const Attempt& attempt) const;
  std::optional<Hold> try_acquire_all(std::span<const std::string> keys,
                                      const Attempt& attempt) const;

  /// The same Locks for another owner: see Owner.
  [[nodiscard]] Locks with_owner(Owner owner) const;

  /// What the backend says of `key` now. These three throw BackendUnavailable and BackendRefused.
  [[nodiscard]] LockInfo inspect(std::string_view key) const;
  /// Keys that are locked now and match the glob `pattern` (`*`, `?`, `[…]`), with their prefix.
  [[nodiscard]] std::vector<std::string> list(std::string_view pattern = "*") const;
  /// Takes the lock from whoever holds it. False: nobody did. Its holder finds out at its next
  /// check.
  bool force_release(std::string_view key) const;

  /// No acquire is granted from now on: waiters end with Closed. Gives holders `drain` to release;
  /// what is held after that is released here and lost to its holder. Returns once every release
  /// was answered, or after Options::command_timeout more. What release_after or hold_for keeps
  /// stays locked for as long as was asked, where the backend can end it by itself. The listener is
  /// told all of it before this returns, and is not called afterwards: it may go then.
  void close(std::chrono::milliseconds drain) const;

  /// What they were made with.
  [[nodiscard]] const Options& options() const noexcept;

  /// Where these Locks take the time from.
  [[nodiscard]] Clock& clock() const noexcept;

  /// Hands an event to the listener, after all that it was told before; for aspects which keep an
  /// error from their caller. Nothing happens where nobody listens.
  void tell(const Event& event) const noexcept;

  /// Waits until the listener was told all that has happened so far, at most `patience` of real
  /// time. False: it was not, or this is a call from within the listener.
  bool flush(std::chrono::milliseconds patience) const;

  /// Scheme, host, port and database.
  [[nodiscard]] std::string describe() const;

 private:
  friend class detail::LockSpace;
  Locks(std::shared_ptr<detail::SpaceRef> space, std::optional<Owner> owner);
  [[nodiscard]] detail::LockSet several(std::span<const std::string> keys, LockType type) const;

  std::shared_ptr<detail::SpaceRef> space_;
  std::optional<Owner> owner_;
};

}  // namespace latchkey
