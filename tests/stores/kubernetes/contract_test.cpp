// The contract of every backend, on an API server of Kubernetes that keeps Leases in memory.
#include <latchkey/testing/backend_contract.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "fixture.hpp"

namespace latchkey::tests {
namespace {

struct Kubernetes {
  /// A Lease has whole seconds: this is the least unit with which a lease is one.
  static constexpr auto unit = std::chrono::milliseconds(250);
  static constexpr bool observes = true;
  static constexpr bool knows_waiters = false;

  std::unique_ptr<Backend> backend() { return kubernetes_backend(server.uri(), options()); }
  std::string fresh_key() { return "key-" + std::to_string(++last_key); }
  // sleeps: leases end by real time
  void pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() { return {}; }

  ApiServer server;
  int last_key = 0;
};

}  // namespace
}  // namespace latchkey::tests

LATCHKEY_BACKEND_CONTRACT(Kubernetes, ::latchkey::tests::Kubernetes);
