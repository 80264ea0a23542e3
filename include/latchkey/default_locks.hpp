// The Locks of decorated calls without `.in(...)`.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

class Locks;

/// The Locks given to `latchkey::install(...)`, or those of a `testing::ScopedLocks` while it
/// lives. Throws NotConfigured if there are none. Lock-free. The reference stays valid for ever;
/// that of a ScopedLocks for its scope.
[[nodiscard]] const Locks& default_locks();

namespace detail {

/// Makes `locks` the default permanently. Returns false if there is a default already. `locks` must
/// never be destroyed.
[[nodiscard]] bool install_default(const Locks& locks) noexcept;

/// The Locks that override the installed ones; null: none.
[[nodiscard]] const Locks* overriding_locks() noexcept;

/// Makes `locks` override the installed Locks; null: ends the override. Returns the previous
/// override. Thread-safe. Nested overrides must end in reverse order.
const Locks* override_default(const Locks* locks) noexcept;

}  // namespace detail
}  // namespace latchkey::inline v1
#pragma GCC visibility pop
