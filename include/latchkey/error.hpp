// Everything that latchkey throws. Answers are values; ignorance and refusal are exceptions.
#pragma once

#include <latchkey/cxx20.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/lock_type.hpp>

namespace latchkey {

/// What an error is about: key, lock type and the backend (scheme, host, port, database; never a
/// user name or a password).
struct LockSite {
  std::string key;
  LockType type = LockType::REENTRANT;
  std::string backend;
  /// The decorated method that asked, "Bank::deposit (bank.cpp:12)"; empty: no LOCKED asked.
  std::string method{};
  /// What that LOCKED says, "key template 'account:{id}', lease 30000 ms".
  std::string terms{};
  bool body_ran = false;
};

/// The root: `catch (const latchkey::Error&)` catches all of them.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  Error(const Error& other) noexcept : std::runtime_error(other), body_ran_(other.body_ran()) {}
  Error& operator=(const Error& other) noexcept {
    std::runtime_error::operator=(other);
    body_ran_.store(other.body_ran(), std::memory_order_relaxed);
    return *this;
  }
  ~Error() override = default;

  /// True: the body of a decorated call that the error came out of has run, completely or in part,
  /// so a call that is repeated does that work again. False: no decorated body has begun. What
  /// Lock, Locks and Hold throw says false until it leaves a decorated body.
  [[nodiscard]] bool body_ran() const noexcept { return body_ran_.load(std::memory_order_relaxed); }

  /// For aspects: the error leaves a body that has begun.
  void note_body_ran() noexcept { body_ran_.store(true, std::memory_order_relaxed); }

 private:
  std::atomic<bool> body_ran_{false};  // one error may be thrown on several threads
};

/// An error about one lock. Of a decorated call the sentence begins with the method and ends with
/// the template of the key, the lease, and whether the body ran.
class LockError : public Error {
 public:
  LockError(LockSite site, const std::string& sentence);

  [[nodiscard]] const std::string& key() const noexcept { return site_.key; }
  [[nodiscard]] LockType type() const noexcept { return site_.type; }
  [[nodiscard]] const std::string& backend() const noexcept { return site_.backend; }
  /// The decorated method that asked, with its place; empty: no LOCKED asked.
  [[nodiscard]] const std::string& method() const noexcept { return site_.method; }

 private:
  LockSite site_;
};

/// The lock was busy for the whole wait.
class LockTimeout : public LockError {
 public:
  LockTimeout(LockSite site, std::chrono::milliseconds waited, std::string holder);

  [[nodiscard]] std::chrono::milliseconds waited() const noexcept { return waited_; }
  /// Who held it, as far as that is known; empty otherwise.
  [[nodiscard]] const std::string& holder() const noexcept { return holder_; }

 private:
  std::chrono::milliseconds waited_;
  std::string holder_;
};

/// The lock ended before its holder did: others may have held it meanwhile.
class LockLost : public LockError {
 public:
  explicit LockLost(LockSite site, std::optional<std::chrono::milliseconds> held = std::nullopt);

  /// From the grant until the loss was found out; empty: not known.
  [[nodiscard]] std::optional<std::chrono::milliseconds> held() const noexcept { return held_; }

 private:
  std::optional<std::chrono::milliseconds> held_;
};

/// An unlock by somebody who does not hold the lock.
class NotOwner : public LockError {
 public:
  explicit NotOwner(LockSite site);
};

/// ASSERT_HELD: no decorated call of this thread holds the key, or one does and has lost it.
class NotHeld : public LockError {
 public:
  explicit NotHeld(LockSite site, bool lost = false);
};

/// The owner holds the key already in a way in which this acquire could never end.
class WouldDeadlock : public LockError {
 public:
  /// `holder`: the decorated method that holds it as `held`; empty: none. `refused`: only
  /// `.reentry(refuse)` is in the way.
  WouldDeadlock(LockSite site, LockType held, const std::string& holder = {}, bool refused = false);
};

/// The wait was ended by the stop token given to `cancel_with`.
class Cancelled : public LockError {
 public:
  explicit Cancelled(LockSite site);
};

/// The Locks were closed before or during the call.
class Closed : public LockError {
 public:
  explicit Closed(LockSite site);
};

/// Nobody can tell: the backend gave no answer. The lock may or may not be free.
class BackendUnavailable : public LockError {
 public:
  BackendUnavailable(LockSite site, const std::string& reason);

 protected:
  struct Release {};
  BackendUnavailable(LockSite site, const std::string& reason, Release);
};

/// The backend did not confirm a release: nobody can tell whether the lock was still held at its
/// end. latchkey repeats the release; the lock ends at the latest with its lease. What the lock
/// guarded is done.
class ReleaseUnconfirmed : public BackendUnavailable {
 public:
  ReleaseUnconfirmed(LockSite site, const std::string& reason);
};

/// The backend answered, and said no.
class BackendRefused : public LockError {
 public:
  BackendRefused(LockSite site, const std::string& reason);
};

/// A key template, or a key made from it, that cannot be used.
class KeyError : public Error {
 public:
  using Error::Error;
};

/// A mistake in a policy file, or all of them. `line` and `column` count from 1; 0 where the file
/// has no such place.
class PolicyError : public Error {
 public:
  PolicyError(std::string file, int line, int column, const std::string& sentence);
  /// All mistakes of one file: the sentences of all, one to a line, and the place of the first.
  /// There is at least one.
  explicit PolicyError(std::vector<PolicyError> all);

  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] int line() const noexcept { return line_; }
  [[nodiscard]] int column() const noexcept { return column_; }
  /// Each mistake on its own, in the order of the file; this one where it stands alone.
  [[nodiscard]] std::vector<PolicyError> all() const;

 private:
  std::string file_;
  int line_;
  int column_;
  std::shared_ptr<const std::vector<PolicyError>> all_{};  // null: it stands alone
};

/// A decorated call before `latchkey::install(...)`.
class NotConfigured : public Error {
 public:
  using Error::Error;
};

}  // namespace latchkey
