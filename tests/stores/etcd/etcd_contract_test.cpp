// The contract of every backend, on a real etcd.
#include <latchkey/testing/backend_contract.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "etcd_fixture.hpp"

namespace latchkey::tests {
namespace {

struct Etcd {
  static constexpr auto unit = std::chrono::milliseconds(25);

  std::unique_ptr<Backend> backend() {
    return etcd_backend(shared_etcd().uri("session=30s"), options());
  }
  std::string fresh_key() { return fresh_etcd_key(); }
  // sleeps: leases end by real time
  void pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() { return {}; }
  /// Revokes the leases of the keys that exist.
  void end_session(Backend&) {
    for (const std::string& key : shared_etcd().keys("key:")) {
      int ignored = 0;
      shared_etcd().ctl({"lease", "revoke", key.substr(key.rfind('/') + 1)}, &ignored);
    }
  }
};

}  // namespace
}  // namespace latchkey::tests

LATCHKEY_BACKEND_CONTRACT(Etcd, ::latchkey::tests::Etcd);
