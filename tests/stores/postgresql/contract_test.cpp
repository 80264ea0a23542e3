// The contract of every backend, on a real server.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/testing/backend_contract.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "shared_server.hpp"

namespace latchkey::tests {
namespace {

struct OverTcp {
  std::unique_ptr<Backend> backend() { return connect_backend(shared_server().uri()); }
  std::string fresh_key() { return next_key("key:"); }
  // sleeps: leases on a real server take real time
  void pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() { return {}; }
};

struct OverUnixSocket : OverTcp {
  std::unique_ptr<Backend> backend() { return connect_backend(shared_server().socket_uri()); }
};

struct OnShedlockTable : OverTcp {
  std::unique_ptr<Backend> backend() {
    return connect_backend(shared_server().uri("?schema=shedlock"));
  }
};

}  // namespace
}  // namespace latchkey::tests

LATCHKEY_BACKEND_CONTRACT(Tcp, ::latchkey::tests::OverTcp);
LATCHKEY_BACKEND_CONTRACT(UnixSocket, ::latchkey::tests::OverUnixSocket);
LATCHKEY_BACKEND_CONTRACT(Shedlock, ::latchkey::tests::OnShedlockTable);
