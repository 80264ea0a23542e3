// The contract of every backend, on FerretDB.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "ferretdb_server.hpp"

// GoogleTest fails if the contract is included and never instantiated.
#ifdef LATCHKEY_FERRETDB
#include <latchkey/testing/backend_contract.hpp>

namespace latchkey::tests {
namespace {

struct NativeLayout {
  std::unique_ptr<Backend> backend() { return connect_mongodb(shared_ferretdb().uri()); }
  std::string fresh_key() { return next_key("key:"); }
  // sleeps: leases on a real server take real time
  void pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() { return {}; }
};

/// Keys that are no UTF-8.
struct BinaryKeys : NativeLayout {
  std::string fresh_key() { return next_key("k\xff:"); }
};

struct ShedLockLayout : NativeLayout {
  std::unique_ptr<Backend> backend() {
    return connect_mongodb(shared_ferretdb().uri("?schema=shedlock"));
  }
};

}  // namespace
}  // namespace latchkey::tests

LATCHKEY_BACKEND_CONTRACT(MongoDb, ::latchkey::tests::NativeLayout);
LATCHKEY_BACKEND_CONTRACT(MongoDbBinaryKeys, ::latchkey::tests::BinaryKeys);
LATCHKEY_BACKEND_CONTRACT(MongoDbShedLock, ::latchkey::tests::ShedLockLayout);
#else
TEST(MongoDbContract, NeedsFerretDb) { NEEDS_FERRETDB(); }
#endif
