// No exception leaves the C interface: not without memory, and not from a backend that throws.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>
#include <latchkey/latchkey.h>
#include <poll.h>

#include <cstddef>
#include <memory>
#include <string>

#include <latchkey/locks.hpp>

#include "c/errors.hpp"
#include "c/handles.hpp"
#include "exhaustion/scarce_memory.hpp"
#include "support/failing_backend.hpp"

namespace latchkey::tests {
namespace {

/// Calls `call(error)` once for each of its allocations, which fails, and then once more, with all
/// of them. `call` returns whether it has succeeded.
template <class Call>
void each_allocation_fails(Call&& call) {
  for (std::size_t nth = 1;; ++nth) {
    latchkey_error* error = nullptr;
    fail_allocation(nth);
    const bool succeeded = call(&error);
    const bool failed = allocation_failed();
    if (!succeeded) {
      EXPECT_NE(error, nullptr) << "allocation " << nth;
      EXPECT_EQ(latchkey_error_code(error), LATCHKEY_NO_MEMORY) << latchkey_error_message(error);
      latchkey_error_free(error);
    }
    if (!failed) {
      EXPECT_TRUE(succeeded);
      EXPECT_GT(nth, 1U) << "it allocates nothing, so this tests nothing";
      return;
    }
    ASSERT_LT(nth, 1'000U);
  }
}

latchkey_request request_of(const char* const* key) {
  latchkey_request request = LATCHKEY_REQUEST_INIT;
  request.keys = key;
  request.key_count = 1;
  request.owner = latchkey_owner_new();
  return request;
}

TEST(CBoundary, OpeningWithoutMemoryIsAnError) {
  each_allocation_fails([](latchkey_error** error) {
    latchkey_locks* const locks = latchkey_open("memory:", nullptr, error);
    latchkey_locks_free(locks);
    return locks != nullptr;
  });
}

TEST(CBoundary, AcquiringWithoutMemoryIsAnErrorAndLeavesNothing) {
  latchkey_locks* const locks = latchkey_open("memory:", nullptr, nullptr);
  const char* const key = "a key that is too long to be stored inline in any string";
  each_allocation_fails([&](latchkey_error** error) {
    latchkey_request request = request_of(&key);
    request.wait_ms = 0;
    latchkey_hold* const hold = latchkey_acquire(locks, &request, error);
    const bool acquired = hold != nullptr;
    if (acquired) latchkey_hold_release(hold, nullptr);
    return acquired;
  });
  latchkey_locks_free(locks);
}

TEST(CBoundary, AnOperationWithoutMemoryIsAnErrorAndLeavesNothing) {
  latchkey_locks* const locks = latchkey_open("memory:", nullptr, nullptr);
  latchkey_loop* const loop = latchkey_loop_new(locks, nullptr);
  const char* const key = "a key that is too long to be stored inline in any string";
  each_allocation_fails([&](latchkey_error** error) {
    latchkey_request request = request_of(&key);
    request.wait_ms = 10'000;
    latchkey_operation* const started = latchkey_start_acquire(loop, &request, nullptr, error);
    if (started == nullptr) return false;
    latchkey_operation* ended = nullptr;
    while ((ended = latchkey_loop_dispatch(loop)) == nullptr) {
      pollfd wanted{latchkey_loop_descriptor(loop), POLLIN, 0};
      EXPECT_EQ(::poll(&wanted, 1, 30'000), 1);
    }
    latchkey_hold* hold = nullptr;
    if (latchkey_operation_finish(ended, &hold, error) != 1) return false;
    latchkey_hold_release(hold, nullptr);
    return true;
  });
  latchkey_loop_free(loop);
  latchkey_locks_free(locks);
}

TEST(CBoundary, KeysWithoutMemoryAreErrors) {
  const std::string text(200, 'x');
  each_allocation_fails([&](latchkey_error** error) {
    latchkey_key* const key = latchkey_key_parse("account:{account.id}:{region}", error);
    if (key == nullptr) return false;
    latchkey_value values[2]{};
    for (latchkey_value& each : values) {
      each.kind = LATCHKEY_TEXT;
      each.text = text.data();
      each.length = text.size();
    }
    char out[LATCHKEY_MAX_KEY + 1];
    const int length = latchkey_key_render(key, values, out, error);
    latchkey_key_free(key);
    return length > 400;
  });
}

TEST(CBoundary, ABackendThatThrowsIsUnavailableOrRefuses) {
  Faults faults;
  Options options;
  options.command_timeout = std::chrono::milliseconds(50);
  latchkey_locks locks{Locks(std::make_unique<FailingBackend>(faults), options)};
  const char* const key = "k";
  latchkey_request request = request_of(&key);
  request.wait_ms = 0;
  latchkey_hold* const hold = latchkey_acquire(&locks, &request, nullptr);
  ASSERT_NE(hold, nullptr);
  faults.silent = true;
  latchkey_error* error = nullptr;
  EXPECT_EQ(latchkey_hold_release(hold, &error), -1);
  EXPECT_EQ(latchkey_error_code(error), LATCHKEY_UNCONFIRMED) << latchkey_error_message(error);
  latchkey_error_free(error);
  const char* const other = "other";
  latchkey_request second = request_of(&other);
  second.wait_ms = 0;
  EXPECT_EQ(latchkey_acquire(&locks, &second, &error), nullptr);
  EXPECT_EQ(latchkey_error_code(error), LATCHKEY_UNAVAILABLE) << latchkey_error_message(error);
  latchkey_error_free(error);
  faults.silent = false;
  faults.refusing = true;
  const char* const refused = "refused";
  second.keys = &refused;
  EXPECT_EQ(latchkey_acquire(&locks, &second, &error), nullptr);
  EXPECT_EQ(latchkey_error_code(error), LATCHKEY_REFUSED) << latchkey_error_message(error);
  latchkey_error_free(error);
  faults.refusing = false;

  EXPECT_EQ(latchkey_loop_new(&locks, &error), nullptr);
  EXPECT_EQ(latchkey_error_code(error), LATCHKEY_BAD_ARGUMENT);
  EXPECT_STREQ(latchkey_error_message(error),
               "the attempts of failing block, so an event loop cannot wait for them: acquire its "
               "locks in a thread");
  latchkey_error_free(error);
}

TEST(CBoundary, AnythingThatIsThrownIsAnError) {
  latchkey_error* error = nullptr;
  EXPECT_EQ(detail::c::guarded(&error, -1, []() -> int { throw 7; }), -1);
  EXPECT_EQ(latchkey_error_code(error), LATCHKEY_FAILED);
  latchkey_error_free(error);
  EXPECT_EQ(detail::c::guarded(nullptr, -1, []() -> int { throw std::bad_alloc(); }), -1);
}

}  // namespace
}  // namespace latchkey::tests
