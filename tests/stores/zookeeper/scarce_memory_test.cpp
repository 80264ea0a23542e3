// A client of ZooKeeper whose allocations fail.
// SPDX-License-Identifier: BSL-1.0
#include "stores/scarce_memory_cases.hpp"

#include <memory>

#include "fixture.hpp"

namespace latchkey::tests {
namespace {

class ZooKeeperWithoutMemory : public ZooKeeperTest {
 protected:
  void SetUp() override {
    ZooKeeperTest::SetUp();
    if (IsSkipped()) return;
    const std::string uri = server().uri(fresh_folder());
    cases = std::make_unique<ScarceMemoryCases>([uri] { return connect_zookeeper(uri, 6s, 1s); },
                                                "memory:");
  }
  std::unique_ptr<ScarceMemoryCases> cases;
};

// Requests were lost, and their callers waited for as long as the process ran.
TEST_F(ZooKeeperWithoutMemory, AnAcquireAndAReleaseEndByTheirWait) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::READ}) {
    SCOPED_TRACE(to_string(type));
    cases->acquire_and_release(type);
  }
}

TEST_F(ZooKeeperWithoutMemory, AWaitEndsInTimeAndLeavesNoPlaceInTheQueue) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::READ}) {
    SCOPED_TRACE(to_string(type));
    cases->wait_in_vain(type);
  }
}

TEST_F(ZooKeeperWithoutMemory, AWaiterGoesOnWhileAnotherCallLacksMemory) {
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR}) {
    SCOPED_TRACE(to_string(type));
    cases->acquire_while_another_waits(type);
  }
}

TEST_F(ZooKeeperWithoutMemory, InspectAndListEndByTheirWait) { cases->inspect_and_list(); }

TEST_F(ZooKeeperWithoutMemory, AConnectionIsMadeOrTheCallerIsTold) { cases->connect_and_acquire(); }

}  // namespace
}  // namespace latchkey::tests
