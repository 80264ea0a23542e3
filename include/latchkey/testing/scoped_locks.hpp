// Other default Locks, for one scope of a test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/options.hpp>
#include <latchkey/testing/recorder.hpp>

namespace latchkey::testing {

/// While it lives, decorated calls of every thread use its Locks instead of what is installed.
/// Scopes nest; they end in reverse order, after the decorated calls that began in them.
///
///     TEST(Bank, LocksTheAccount) {
///       const latchkey::testing::ScopedLocks locks;  // in memory: no server, nothing to install
///       Bank().deposit({42}, 10);
///       EXPECT_THAT(locks.taken(), ElementsAre(Taken{"account:42", LockType::WRITE}));
///     }
///
/// Locks that it made itself check the lock order (Options::check_order): what breaks it fails the
/// test at the end of the scope, unless the test has asked for it by order_reports. They are closed
/// at the end: what is still held is lost then.
class [[nodiscard]] ScopedLocks {
 public:
  /// New Locks in memory. A listener of `options` is told everything too.
  explicit ScopedLocks(Options options = {});
  /// New Locks over a backend such as MockBackend.
  explicit ScopedLocks(std::unique_ptr<Backend> backend, Options options = {});
  /// Locks that the test has made, as they are: nothing is recorded or checked.
  explicit ScopedLocks(Locks locks);
  ScopedLocks(const ScopedLocks&) = delete;
  ScopedLocks& operator=(const ScopedLocks&) = delete;
  ~ScopedLocks();

  [[nodiscard]] const Locks& locks() const noexcept { return locks_; }

  /// What was taken since the beginning or the last forget, in its order. The three throw
  /// std::logic_error where the Locks are the test's own, which has a Recorder of its own then.
  [[nodiscard]] std::vector<Taken> taken() const;
  /// Everything that happened.
  [[nodiscard]] std::vector<Event> events() const;
  /// The reports of broken lock order, which are no failures any more.
  [[nodiscard]] std::vector<std::string> order_reports() const;

  /// What was taken and what happened is forgotten.
  void forget() const;

 private:
  class Witness;

  ScopedLocks(std::unique_ptr<Witness> witness, std::unique_ptr<Backend> backend, Options options);
  [[nodiscard]] Witness& witness() const;

  std::unique_ptr<Witness> witness_;  // null: the Locks are the test's own
  Locks locks_;
  const Locks* outer_;
};

}  // namespace latchkey::testing
