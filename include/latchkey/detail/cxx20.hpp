// Rejects an older standard with a one-sentence error.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#if __cplusplus < 202002L
#error "latchkey needs C++20: compile with -std=c++20, or in CMake say cxx_std_20 of your target"
#endif

/// `= delete` with a reason, where the language has it. Before C++26 the compilers show the line of
/// the deleted function instead, so the type of its parameter has a name that is the sentence.
#if __cplusplus > 202302L && defined(__cpp_deleted_function)
#define LATCHKEY_DETAIL_DELETED(reason) = delete (reason)
#else
#define LATCHKEY_DETAIL_DELETED(reason) = delete
#endif
