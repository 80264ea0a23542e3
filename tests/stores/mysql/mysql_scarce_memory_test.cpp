// A client of MariaDB whose allocations fail.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>

#include <latchkey/locks.hpp>

#include "stores/mysql/mysql_support.hpp"
#include "stores/scarce_memory_cases.hpp"

namespace latchkey::tests {
namespace {

Locks connect() {
  register_mysql();
  return Locks::connect(mysql_server().uri(), {.command_timeout = std::chrono::seconds(1)});
}

class MysqlWithoutMemory : public ::testing::Test {
 protected:
  ScarceMemoryCases cases{connect, "memory:" + next_key()};
};

// Requests were lost, and their callers waited for as long as the process ran.
TEST_F(MysqlWithoutMemory, AnAcquireAndAReleaseEndByTheirWait) {
  for (const LockType type : {LockType::REENTRANT, LockType::READ, LockType::FENCED}) {
    SCOPED_TRACE(to_string(type));
    cases.acquire_and_release(type);
  }
}

TEST_F(MysqlWithoutMemory, AnAcquireWithATokenEndsByItsWait) {
  for (const LockType type : {LockType::WRITE, LockType::FAIR}) {
    SCOPED_TRACE(to_string(type));
    cases.acquire_with_a_token(type);
  }
}

TEST_F(MysqlWithoutMemory, AWaitEndsInTime) { cases.wait_in_vain(LockType::REENTRANT); }

TEST_F(MysqlWithoutMemory, AWaiterGoesOnWhileAnotherCallLacksMemory) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR}) {
    SCOPED_TRACE(to_string(type));
    cases.acquire_while_another_waits(type);
  }
}

// The rows of a result were leaked.
TEST_F(MysqlWithoutMemory, InspectAndListEndByTheirWait) { cases.inspect_and_list(); }

TEST_F(MysqlWithoutMemory, AConnectionIsMadeOrTheCallerIsTold) { cases.connect_and_acquire(); }

}  // namespace
}  // namespace latchkey::tests
