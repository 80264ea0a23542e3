// Naming the Locks that decorated calls use.
#pragma once

#include <latchkey/locks.hpp>

namespace latchkey {

/// From now on every decorated call without `.in(...)` uses `locks`. Once per process, early in
/// main: a second call throws std::logic_error and changes nothing, because calls under the first
/// Locks may hold what the second ones would grant again. Tests say `testing::ScopedLocks`.
///
/// What was installed is never destroyed, so decorated calls work until the process ends, in the
/// destructors of statics too. Thread-safe.
void install(Locks locks);

}  // namespace latchkey
