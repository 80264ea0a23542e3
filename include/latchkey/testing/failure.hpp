// How the testing kit fails a test: by GoogleTest, or by the test framework that you name.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <string>

#ifdef LATCHKEY_TESTING_USES_GOOGLETEST
#include <gtest/gtest.h>
#endif

namespace latchkey::inline v1::testing {

/// Fails the test that runs now; the sentence says why. May be called in a destructor, so it does
/// not throw.
using FailureReporter = void (*)(const std::string& sentence);

/// Names the function that fails a test, for all threads. Programs that link latchkey::testing
/// report to GoogleTest from the start. Programs that link latchkey::testing_core name theirs in
/// main, or in a fixture that all tests share: a function that calls `FAIL_CHECK(sentence)` with
/// Catch2, or `ADD_FAIL_CHECK_AT(__FILE__, __LINE__, sentence)` with doctest.
///
/// Until then, or after a null, a failure is written to stderr and ends the program, so that it is
/// never overlooked.
void report_failures_to(FailureReporter reporter) noexcept;

/// Fails the test that runs now.
void report_failure(const std::string& sentence);

#ifdef LATCHKEY_TESTING_USES_GOOGLETEST
namespace detail {
inline const bool reports_to_googletest =
    (report_failures_to([](const std::string& sentence) { ADD_FAILURE() << sentence; }), true);
}  // namespace detail
#endif

}  // namespace latchkey::inline v1::testing
