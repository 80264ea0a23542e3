// The Locks that a decorated call uses when nobody says which.
#pragma once

#include <latchkey/cxx20.hpp>

namespace latchkey {

class Locks;

/// What `latchkey::install(...)` named, or a `testing::ScopedLocks` for as long as it lives. Throws
/// NotConfigured before that. Lock-free; the reference stays good for ever, a ScopedLocks' for its
/// scope.
[[nodiscard]] const Locks& default_locks();

namespace detail {

/// Makes `locks` the default for good, unless there is one: then false. It must never be destroyed.
[[nodiscard]] bool install_default(const Locks& locks) noexcept;

/// What is used instead of what is installed; null: nothing.
[[nodiscard]] const Locks* overriding_locks() noexcept;

/// From now on `locks` are used instead of what is installed; null: what is installed. Gives what
/// was used instead until now. Thread-safe, but whoever nests must end in reverse order.
const Locks* override_default(const Locks* locks) noexcept;

}  // namespace detail
}  // namespace latchkey
