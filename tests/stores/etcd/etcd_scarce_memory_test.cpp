// A client of etcd whose allocations fail.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>

#include <latchkey/locks.hpp>

#include "etcd_fixture.hpp"
#include "stores/scarce_memory_cases.hpp"

namespace latchkey::tests {
namespace {

/// Whatever a Locks leaves behind is deleted with its session.
Locks connect() {
  constexpr std::chrono::seconds session{6};
  return etcd_locks(shared_etcd().uri("session=6s"),
                    {.watchdog = session, .command_timeout = std::chrono::seconds(1)});
}

class EtcdWithoutMemory : public ::testing::Test {
 protected:
  ScarceMemoryCases cases{connect, "memory:" + fresh_etcd_key()};
};

// Requests were lost, and their callers waited for as long as the process ran.
TEST_F(EtcdWithoutMemory, AnAcquireAndAReleaseEndByTheirWait) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::FENCED}) {
    SCOPED_TRACE(to_string(type));
    cases.acquire_and_release(type);
  }
}

TEST_F(EtcdWithoutMemory, AWaitEndsInTimeAndLeavesNoPlaceInTheQueue) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR}) {
    SCOPED_TRACE(to_string(type));
    cases.wait_in_vain(type);
  }
}

TEST_F(EtcdWithoutMemory, AWaiterGoesOnWhileAnotherCallLacksMemory) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR}) {
    SCOPED_TRACE(to_string(type));
    cases.acquire_while_another_waits(type);
  }
}

TEST_F(EtcdWithoutMemory, InspectAndListEndByTheirWait) { cases.inspect_and_list(); }

TEST_F(EtcdWithoutMemory, AConnectionIsMadeOrTheCallerIsTold) { cases.connect_and_acquire(); }

}  // namespace
}  // namespace latchkey::tests
