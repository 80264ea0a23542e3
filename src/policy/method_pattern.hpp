// Patterns that name methods: Bank::deposit, Bank::*, *::balance.
#pragma once

#include <string_view>

namespace latchkey::detail {

/// True where `pattern` names the method, with its namespaces or without some of the outer ones:
/// Bank::* names shop::Bank::open. A * stands for any letters but ::, none included.
[[nodiscard]] bool names_method(std::string_view pattern, std::string_view method);

/// True where whatever `special` names is named by `general` too, and not the other way round.
[[nodiscard]] bool is_more_specific(std::string_view special, std::string_view general);

}  // namespace latchkey::detail
