// Asks for the states of several locks.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/locks.hpp>

namespace latchkey::inline v1::cli {

/// The state of a lock or of a semaphore. Throws BackendUnavailable, BackendRefused.
[[nodiscard]] LockInfo inspect(const Locks& locks, const std::string& key);

/// The states of the locks with these full names, in their order. It leaves those out that the
/// backend refuses to describe, after it has called `refused(why)`: another client may use names
/// that latchkey does not accept, or the user may lack a permission. Throws BackendUnavailable.
[[nodiscard]] std::vector<LockInfo> inspect_each(
    const Locks& locks, std::span<const std::string> names,
    const std::function<void(std::string_view why)>& refused);

}  // namespace latchkey::inline v1::cli
