// How the testing kit fails a test.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/testing/failure.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace latchkey::inline v1::testing {
namespace {

constinit std::atomic<FailureReporter> current = nullptr;

}  // namespace

void report_failures_to(FailureReporter reporter) noexcept { current.store(reporter); }

void report_failure(const std::string& sentence) {
  const FailureReporter reporter = current.load();
  if (reporter != nullptr) return reporter(sentence);
  std::fprintf(stderr,
               "latchkey: %s (no test framework was named: call "
               "latchkey::testing::report_failures_to)\n",
               sentence.c_str());
  std::abort();
}

}  // namespace latchkey::inline v1::testing
