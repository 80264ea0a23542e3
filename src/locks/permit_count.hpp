// Numbers of permits that make no sense.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>

#include <latchkey/permits.hpp>

namespace latchkey::inline v1::detail {

/// Throw std::invalid_argument with a sentence.
void require_total(std::int64_t total);
void require_valid(const Permits& permits);
/// The same of a number that is still signed.
[[nodiscard]] Permits checked_permits(std::int64_t taken, std::int64_t total);

}  // namespace latchkey::inline v1::detail
