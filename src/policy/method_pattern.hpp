// Patterns that name methods: Bank::deposit, Bank::*, *::balance.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

namespace latchkey::inline v1::detail {

/// True if `pattern` names the method, with its namespaces or without some of the outer ones:
/// Bank::* names shop::Bank::open. A * stands for any letters but ::, none included.
[[nodiscard]] bool names_method(std::string_view pattern, std::string_view method);

/// True if `general` names every method that `special` names, and not conversely.
[[nodiscard]] bool is_more_specific(std::string_view special, std::string_view general);

}  // namespace latchkey::inline v1::detail
