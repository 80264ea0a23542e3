// Rejects an older standard with a one-sentence error.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#if __cplusplus < 202002L
#error "latchkey needs C++20: compile with -std=c++20, or in CMake say cxx_std_20 of your target"
#endif
