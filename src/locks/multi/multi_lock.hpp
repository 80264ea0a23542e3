// The functions of a Lock of several keys.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>

#include <latchkey/attempt.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/wait.hpp>

namespace latchkey::inline v1::detail {

class LockSet;

/// Lock::acquire and Lock::try_acquire for all members at once; `attempt.type` is ignored. They
/// throw about the member that was not granted.
Hold acquire_together(const LockSet& set, const Attempt& attempt);
std::optional<Hold> try_acquire_together(const LockSet& set, const Attempt& attempt);

/// Lock::try_lock_for and Lock::release for all members at once.
bool lock_together(const LockSet& set, Wait wait);
bool unlock_together(const LockSet& set);

}  // namespace latchkey::inline v1::detail
