// What a Lock of several keys does.
#pragma once

#include <optional>

#include <latchkey/attempt.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/wait.hpp>

namespace latchkey::detail {

class LockSet;

/// As Lock::acquire, of all members at once; `attempt.type` counts for nothing. They throw about
/// the member that was in the way.
Hold acquire_together(const LockSet& set, const Attempt& attempt);
std::optional<Hold> try_acquire_together(const LockSet& set, const Attempt& attempt);

/// As Lock::try_lock_for and Lock::release.
bool lock_together(const LockSet& set, Wait wait);
bool unlock_together(const LockSet& set);

}  // namespace latchkey::detail
