// How a process describes itself to those who wait for its locks elsewhere.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

namespace latchkey::inline v1::detail {

/// "on web-3, process 4711 (bank)" (Options::announce).
[[nodiscard]] std::string announcement_of_this_process();

/// Sets the name of this program in announcements, instead of the name of its file. To be called
/// before its first Locks.
void name_program(std::string name);

}  // namespace latchkey::inline v1::detail
