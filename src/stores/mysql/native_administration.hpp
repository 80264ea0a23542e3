// Reads the rows of inspect and list.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

#include "stores/mysql/layout.hpp"

namespace latchkey::inline v1::detail::mysql {

void read_info(LockInfo& info, std::string_view key, const Rows& rows);
void read_list(const Request& request, const Rows& rows);

}  // namespace latchkey::inline v1::detail::mysql
