// A client of PostgreSQL whose allocations fail.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "shared_server.hpp"
#include "stores/scarce_memory_cases.hpp"

namespace latchkey::tests {
namespace {

Locks connect() {
  register_postgresql();
  return Locks::connect(shared_server().uri(), {.command_timeout = std::chrono::seconds(1)});
}

class PostgresqlWithoutMemory : public ::testing::Test {
 protected:
  ScarceMemoryCases cases{connect, next_key("memory:")};
};

// Requests were lost, and their callers waited for as long as the process ran.
TEST_F(PostgresqlWithoutMemory, AnAcquireAndAReleaseEndByTheirWait) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::READ}) {
    SCOPED_TRACE(to_string(type));
    cases.acquire_and_release(type);
  }
}

TEST_F(PostgresqlWithoutMemory, AnAcquireWithATokenEndsByItsWait) {
  for (const LockType type : {LockType::WRITE, LockType::FAIR}) {
    SCOPED_TRACE(to_string(type));
    cases.acquire_with_a_token(type);
  }
}

TEST_F(PostgresqlWithoutMemory, AWaitEndsInTimeAndLeavesNoPlaceInTheQueue) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::READ}) {
    SCOPED_TRACE(to_string(type));
    cases.wait_in_vain(type);
  }
}

TEST_F(PostgresqlWithoutMemory, AWaiterGoesOnWhileAnotherCallLacksMemory) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR}) {
    SCOPED_TRACE(to_string(type));
    cases.acquire_while_another_waits(type);
  }
}

TEST_F(PostgresqlWithoutMemory, InspectAndListEndByTheirWait) { cases.inspect_and_list(); }

TEST_F(PostgresqlWithoutMemory, AConnectionIsMadeOrTheCallerIsTold) { cases.connect_and_acquire(); }

}  // namespace
}  // namespace latchkey::tests
