// Other default Locks, for one scope of a test.
#include <latchkey/testing/scoped_locks.hpp>

#include <latchkey/default_locks.hpp>

namespace latchkey::testing {

ScopedLocks::ScopedLocks(Locks locks)
    : locks_(std::move(locks)), outer_(detail::override_default(&locks_)) {}

ScopedLocks::~ScopedLocks() { detail::override_default(outer_); }

}  // namespace latchkey::testing
