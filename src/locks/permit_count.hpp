// Checks of the permits that a call asks for.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>

#include <latchkey/attempt.hpp>
#include <latchkey/lease.hpp>
#include <latchkey/permits.hpp>
#include <latchkey/wait.hpp>

namespace latchkey::inline v1::detail {

/// Both throw std::invalid_argument with a sentence for a number that makes no sense.
void require_total(std::int64_t total);
void require_valid(const Permits& permits);
/// Converts numbers that are still signed. Throws std::invalid_argument with a sentence unless they
/// are valid.
[[nodiscard]] Permits checked_permits(std::int64_t taken, std::int64_t total);
/// The acquire of `taken` permits of a semaphore that has `total`. Throws std::invalid_argument.
[[nodiscard]] Attempt permit_attempt(std::int64_t taken, std::int64_t total, Wait wait,
                                     Lease lease);

/// Throws std::invalid_argument with a sentence: PERMIT was given where a type of locks is
/// expected.
[[noreturn]] void refuse_permit_as_lock();

}  // namespace latchkey::inline v1::detail
