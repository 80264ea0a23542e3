// A client of MongoDB whose allocations fail.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include <latchkey/locks.hpp>
#include <latchkey/mongodb.hpp>

#include "ferretdb_server.hpp"
#include "stores/scarce_memory_cases.hpp"

namespace latchkey::tests {
namespace {

Locks connect() {
  register_mongodb();
  return Locks::connect(shared_ferretdb().uri(), {.command_timeout = std::chrono::seconds(2)});
}

class MongoDbWithoutMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    NEEDS_FERRETDB();
    cases.emplace(connect, next_key("memory"));
  }
  std::optional<ScarceMemoryCases> cases;
};

TEST_F(MongoDbWithoutMemory, AnAcquireAndAReleaseEndByTheirWait) {
  for (const LockType type : {LockType::REENTRANT, LockType::READ, LockType::FENCED}) {
    SCOPED_TRACE(to_string(type));
    cases->acquire_and_release(type);
  }
}

TEST_F(MongoDbWithoutMemory, AWaitEndsInTime) { cases->wait_in_vain(LockType::REENTRANT); }

TEST_F(MongoDbWithoutMemory, InspectAndListEndByTheirWait) { cases->inspect_and_list(); }

// A connection that could not be kept for the next request ended the process.
TEST_F(MongoDbWithoutMemory, AConnectionIsMadeOrTheCallerIsTold) { cases->connect_and_acquire(); }

}  // namespace
}  // namespace latchkey::tests
