// Replaces the default Locks for one scope of a test.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/options.hpp>
#include <latchkey/testing/failure.hpp>
#include <latchkey/testing/recorder.hpp>

namespace latchkey::inline v1::testing {

/// While it lives, decorated calls of every thread use its Locks instead of the installed ones.
/// Scopes nest; they end in reverse order, after the decorated calls that began in them.
///
///     TEST(Bank, LocksTheAccount) {
///       const latchkey::testing::ScopedLocks locks;  // in memory: no server, nothing to install
///       Bank().deposit({42}, 10);
///       EXPECT_THAT(locks.taken(), ElementsAre(Taken{"account:42", LockType::WRITE}));
///     }
///
/// Locks that it created itself check the lock order (Options::check_order): a violation fails the
/// test (testing/failure.hpp) at the end of the scope, unless the test has read it with
/// order_reports. They are closed at the end of the scope, so that what is still held is lost.
class [[nodiscard]] ScopedLocks {
 public:
  /// New Locks in memory. A listener in `options` receives all events, too.
  explicit ScopedLocks(Options options = {});
  /// New Locks over a backend such as MockBackend.
  explicit ScopedLocks(std::unique_ptr<Backend> backend, Options options = {});
  /// Locks that the test created. Nothing is recorded or checked.
  explicit ScopedLocks(Locks locks);
  ScopedLocks(const ScopedLocks&) = delete;
  ScopedLocks& operator=(const ScopedLocks&) = delete;
  ~ScopedLocks();

  [[nodiscard]] const Locks& locks() const noexcept { return locks_; }

  /// The grants since the beginning or the last forget, in their order. All three functions throw
  /// std::logic_error if the test created the Locks: use a Recorder then.
  [[nodiscard]] std::vector<Taken> taken() const;
  /// All events.
  [[nodiscard]] std::vector<Event> events() const;
  /// The violations of the lock order. They do not fail the test any more.
  [[nodiscard]] std::vector<std::string> order_reports() const;

  /// Forgets all events.
  void forget() const;

 private:
  class Witness;

  ScopedLocks(std::unique_ptr<Witness> witness, std::unique_ptr<Backend> backend, Options options);
  [[nodiscard]] Witness& witness() const;

  std::unique_ptr<Witness> witness_;  // null if the test created the Locks
  Locks locks_;
  const Locks* outer_;
};

}  // namespace latchkey::inline v1::testing
