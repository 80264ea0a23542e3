// All exceptions of latchkey. `try_` functions return whether the lock is busy; an unknown outcome
// and a rejection are always exceptions.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/lock_type.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

namespace detail {
class Reporter;
}

/// The context of an error: key, lock type and backend (scheme, host, port, database; never a user
/// name or a password).
struct LockSite {
  std::string key;  ///< without the prefix
  LockType type = LockType::REENTRANT;
  std::string backend;
  /// The decorated method, "Bank::deposit (bank.cpp:12)"; empty: the caller is not a LOCKED.
  std::string method{};
  /// The terms of that LOCKED, "key template 'account:{id}', lease 30000 ms".
  std::string terms{};
  bool body_ran = false;
  bool latch = false;    ///< it is a CountDownLatch, which has no type
  bool untyped = false;  ///< inspect or force_release of a key, which may be anything
  /// The listener has an event of the hold that tells of this error: no second one is made.
  bool has_event = false;
  std::string prefix{};  ///< Options::prefix: what() names the key as the backend has it
};

/// The base class: `catch (const latchkey::Error&)` catches all of them.
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

  /// True: the error left a decorated call whose body ran, completely or in part, so repeating the
  /// call repeats that work. False: no decorated body began. Errors of Lock, Locks and Hold return
  /// false until they leave a decorated body.
  [[nodiscard]] bool body_ran() const noexcept { return body_ran_.load(std::memory_order_relaxed); }

  /// For aspects: records that the error leaves a body that has begun.
  void note_body_ran() noexcept { body_ran_.store(true, std::memory_order_relaxed); }

 private:
  std::atomic<bool> body_ran_{false};  // one error may be thrown on several threads
};

/// An error about one lock. For a decorated call, what() begins with the method and ends with the
/// key template, the lease, and whether the body ran.
class LockError : public Error {
 public:
  LockError(LockSite site, const std::string& sentence);

  /// The key without the prefix, as it was given.
  [[nodiscard]] const std::string& key() const noexcept { return site_.key; }
  [[nodiscard]] LockType type() const noexcept { return site_.type; }
  [[nodiscard]] const std::string& backend() const noexcept { return site_.backend; }
  /// The decorated method and its location; empty: the caller is not a LOCKED.
  [[nodiscard]] const std::string& method() const noexcept { return site_.method; }

 protected:
  [[nodiscard]] const LockSite& site() const noexcept { return site_; }

 private:
  friend class detail::Reporter;

  LockSite site_;
};

/// The lock was busy for the whole wait.
class LockTimeout : public LockError {
 public:
  LockTimeout(LockSite site, std::chrono::milliseconds waited, std::string holder);

  [[nodiscard]] std::chrono::milliseconds waited() const noexcept { return waited_; }
  /// The holder of the lock, if it is known; empty otherwise.
  [[nodiscard]] const std::string& holder() const noexcept { return holder_; }

 private:
  std::chrono::milliseconds waited_;
  std::string holder_;
};

/// The hold ended before its holder released it: others may have held the lock meanwhile.
class LockLost : public LockError {
 public:
  explicit LockLost(LockSite site, std::optional<std::chrono::milliseconds> held = std::nullopt,
                    bool held_too_long = false);

  /// The time from the grant until the loss was noticed; empty: unknown.
  [[nodiscard]] std::optional<std::chrono::milliseconds> held() const noexcept { return held_; }
  /// Whether it ended because its holder had it for as long as held_at_most allows. False: its
  /// lease ended without a renewal, or the backend no longer had it.
  [[nodiscard]] bool held_too_long() const noexcept { return held_too_long_; }

 private:
  std::optional<std::chrono::milliseconds> held_;
  bool held_too_long_;
};

/// An unlock by an owner that does not hold the lock.
class NotOwner : public LockError {
 public:
  explicit NotOwner(LockSite site);
};

/// ASSERT_HELD failed: no decorated call of this thread holds the key, or one held it and lost it.
class NotHeld : public LockError {
 public:
  explicit NotHeld(LockSite site, bool lost = false);
};

/// The owner already holds the key in a mode in which this acquire could never succeed.
class WouldDeadlock : public LockError {
 public:
  /// `held`: the type in which the owner holds the key. `holder`: the decorated method that holds
  /// it; empty: none. `refused`: only `.reentry(Reentry::refuse)` prevents the acquire.
  WouldDeadlock(LockSite site, LockType held, const std::string& holder = {}, bool refused = false);
};

/// The stop token given to `cancel_with`, or the cancellation slot of a coroutine, ended the wait.
class Cancelled : public LockError {
 public:
  enum class By : std::uint8_t { stop_token, cancellation_slot };

  explicit Cancelled(LockSite site, By by = By::stop_token);

  [[nodiscard]] By by() const noexcept { return by_; }
  /// Returns this error with another cause.
  [[nodiscard]] Cancelled caused_by(By by) const { return Cancelled(site(), by); }

 private:
  By by_;
};

/// The Locks were closed before or during the call.
class Closed : public LockError {
 public:
  explicit Closed(LockSite site);
};

/// The backend gave no definite reply. The lock may or may not be free.
class BackendUnavailable : public LockError {
 public:
  BackendUnavailable(LockSite site, const std::string& reason);

 protected:
  struct Release {};
  BackendUnavailable(LockSite site, const std::string& reason, Release);
};

/// The backend did not confirm a release: it is unknown whether the lock was still held then.
/// latchkey repeats the release; the lock ends with its lease at the latest. The work that the lock
/// guarded is done.
class ReleaseUnconfirmed : public BackendUnavailable {
 public:
  ReleaseUnconfirmed(LockSite site, const std::string& reason);
};

/// The backend rejected the request.
class BackendRefused : public LockError {
 public:
  BackendRefused(LockSite site, const std::string& reason);
};

/// A key template, or a key rendered from it, that cannot be used.
class KeyError : public Error {
 public:
  using Error::Error;
};

/// An error in a policy file, or all errors of the file. `line` and `column` count from 1; 0 if the
/// error has no position in the file.
class PolicyError : public Error {
 public:
  PolicyError(std::string file, int line, int column, const std::string& sentence);
  /// All errors of one file: what() has one line for each, and the position is that of the first.
  /// `all` is not empty.
  explicit PolicyError(std::vector<PolicyError> all);

  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] int line() const noexcept { return line_; }
  [[nodiscard]] int column() const noexcept { return column_; }
  /// Each error by itself, in the order of the file; for a single error a list of this one.
  [[nodiscard]] std::vector<PolicyError> all() const;

 private:
  std::string file_;
  int line_;
  int column_;
  std::shared_ptr<const std::vector<PolicyError>> all_{};  // null: a single error
};

/// A text that is no fence, or the fence of another key or type (Fence::parse, check_fence): the
/// request is wrong, not late.
class FenceError : public Error {
 public:
  FenceError(std::string_view text, std::size_t column, const std::string& sentence);

  /// Where in the text, in bytes, counted from 1.
  [[nodiscard]] std::size_t column() const noexcept { return column_; }

 private:
  std::size_t column_;
};

/// A guard has seen a higher token: the sender has lost its lock, and a later holder has been here.
/// Its request was not carried out.
class FenceRejected : public Error {
 public:
  /// For a guard that has forgotten the key.
  struct Forgotten {};

  /// `key` without the prefix, the token that was `presented`, and the `highest` seen before.
  FenceRejected(std::string key, std::uint64_t presented, std::uint64_t highest);
  FenceRejected(std::string key, std::uint64_t presented, std::uint64_t highest, Forgotten);

  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  [[nodiscard]] std::uint64_t presented() const noexcept { return presented_; }
  /// The highest token seen for the key; from a guard that has forgotten it (SeenFences), the
  /// highest token forgotten.
  [[nodiscard]] std::uint64_t highest() const noexcept { return highest_; }

 private:
  std::string key_;
  std::uint64_t presented_, highest_;
};

/// A decorated call before `latchkey::install(...)`.
class NotConfigured : public Error {
 public:
  using Error::Error;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
