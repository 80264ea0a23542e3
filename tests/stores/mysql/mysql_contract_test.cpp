// The contract of every backend, on a real server.
#include <latchkey/mysql.hpp>
#include <latchkey/testing/backend_contract.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "stores/mysql/mysql_server.hpp"
#include "stores/mysql/mysql_support.hpp"

namespace latchkey::tests {
namespace {

struct OverTcp {
  std::unique_ptr<Backend> backend() { return make_mysql(mysql_server().uri()); }
  std::string fresh_key() { return next_key(); }
  // sleeps: leases on a real server take real time
  void pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() { return {}; }
};

struct OverUnixSocket : OverTcp {
  std::unique_ptr<Backend> backend() { return make_mysql(mysql_server().socket_uri()); }
};

}  // namespace
}  // namespace latchkey::tests

LATCHKEY_BACKEND_CONTRACT(MysqlTcp, ::latchkey::tests::OverTcp);
LATCHKEY_BACKEND_CONTRACT(MysqlUnixSocket, ::latchkey::tests::OverUnixSocket);
