// Normalises the compilers' spellings of functions and types.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>

namespace latchkey::inline v1::detail {

/// Returns the function that contains the lambda named by `function`, without result, parameters,
/// template arguments, qualifiers and lambdas: "bank::Bank::deposit". Empty if no function contains
/// the lambda.
[[nodiscard]] std::string method_name(std::string_view function);

/// Returns the one spelling used for a type, whichever compiler spelled it: "std::string",
/// "const Receipt&".
[[nodiscard]] std::string type_text(std::string_view spelling);

}  // namespace latchkey::inline v1::detail
