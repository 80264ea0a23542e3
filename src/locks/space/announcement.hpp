// How a process describes itself to those who wait for its locks elsewhere.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

namespace latchkey::inline v1::detail {

/// "on web-3, process 4711" (Options::announce).
[[nodiscard]] std::string announcement_of_this_process();

}  // namespace latchkey::inline v1::detail
