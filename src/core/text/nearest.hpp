// The right words that are nearest to a wrong one.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace latchkey::inline v1::detail {

/// How many letters are inserted, removed, changed or swapped with their neighbour; upper and lower
/// case are the same.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// "; did you mean 'wait'?"; if nothing is near, "; expected one of wait, lease"; if `right` is
/// empty, "; there are none".
[[nodiscard]] std::string nearest_words(std::string_view wrong,
                                        std::span<const std::string_view> right);

/// 'word', shortened to what a sentence can bear, control bytes shown as ?. For a URI only the
/// scheme is shown.
[[nodiscard]] std::string quoted_word(std::string_view word);

}  // namespace latchkey::inline v1::detail
