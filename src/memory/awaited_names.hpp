// The listing of keys that are waited for.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <vector>

#include <latchkey/backend.hpp>

namespace latchkey::inline v1::detail {

/// Sorts the names by their waiters, and drops those beyond the part's budget. Names that the
/// request found in the list stay in front.
void keep_most_awaited(std::vector<std::string>& names, ListPart& part);

}  // namespace latchkey::inline v1::detail
