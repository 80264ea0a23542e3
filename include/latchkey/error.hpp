// Everything that latchkey throws. Answers are values; ignorance and refusal are exceptions.
#pragma once

#include <chrono>
#include <memory>
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
};

/// The root: `catch (const latchkey::Error&)` catches all of them.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An error about one lock.
class LockError : public Error {
 public:
  LockError(LockSite site, const std::string& sentence);

  [[nodiscard]] const std::string& key() const noexcept { return site_.key; }
  [[nodiscard]] LockType type() const noexcept { return site_.type; }
  [[nodiscard]] const std::string& backend() const noexcept { return site_.backend; }

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
  explicit LockLost(LockSite site);
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
  WouldDeadlock(LockSite site, LockType held);
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
