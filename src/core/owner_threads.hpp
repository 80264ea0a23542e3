// Which thread an owner is, for people who look for it in a debugger.
#pragma once

#include <optional>

#include <latchkey/owner.hpp>

namespace latchkey::detail {

/// The number that the system gives the thread (gettid); empty where the owner is no thread, or one
/// that has ended. Thread-safe.
[[nodiscard]] std::optional<long> thread_of(Owner owner) noexcept;

}  // namespace latchkey::detail
