// Other default Locks, for one scope of a test.
#pragma once

#include <utility>

#include <latchkey/locks.hpp>

namespace latchkey::testing {

/// While it lives, decorated calls of every thread use these Locks instead of what is installed.
/// Scopes nest; they end in reverse order, after the decorated calls that began in them.
class [[nodiscard]] ScopedLocks {
 public:
  explicit ScopedLocks(Locks locks);
  ScopedLocks(const ScopedLocks&) = delete;
  ScopedLocks& operator=(const ScopedLocks&) = delete;
  ~ScopedLocks();

  [[nodiscard]] const Locks& locks() const noexcept { return locks_; }

 private:
  Locks locks_;
  const Locks* outer_;
};

}  // namespace latchkey::testing
