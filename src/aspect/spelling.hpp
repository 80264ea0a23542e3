// How compilers spell functions and types, brought to one spelling.
#pragma once

#include <string>
#include <string_view>

namespace latchkey::detail {

/// The function around the lambda that `function` names, without result, parameters, template
/// arguments, qualifiers and lambdas: "bank::Bank::deposit". Empty where there is none.
[[nodiscard]] std::string method_name(std::string_view function);

/// `spelling` as both compilers are made to agree on it: "std::string", "const Receipt&".
[[nodiscard]] std::string type_text(std::string_view spelling);

}  // namespace latchkey::detail
