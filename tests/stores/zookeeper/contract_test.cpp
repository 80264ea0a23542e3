// The contract of backends, on a real ZooKeeper.
#include <latchkey/testing/backend_contract.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "stores/driver/driven_backend.hpp"
#include "stores/zookeeper/client.hpp"
#include "zookeeper_server.hpp"

namespace latchkey::tests {
namespace {

using detail::zookeeper::ZooKeeperClient;
using detail::zookeeper::ZooKeeperUri;

struct ZooKeeperStore {
  static constexpr auto unit = std::chrono::milliseconds(20);

  ZooKeeperStore() {
    const std::string missing = ZooKeeperServer::why_missing();
    if (!missing.empty()) [] { GTEST_SKIP(); }();
  }

  std::unique_ptr<Backend> backend() {
    const auto uri = ZooKeeperUri::parse(ZooKeeperServer::shared().uri("/contract"), session);
    auto client = std::make_unique<ZooKeeperClient>(uri, options());
    ZooKeeperClient* const kept = client.get();
    auto made = detail::stores::drive_client(std::move(client), options());
    clients[made.get()] = kept;
    return made;
  }
  std::string fresh_key() {
    static std::atomic<int> last = 0;
    return "key" + std::to_string(++last);
  }
  // sleeps: leases end by real time
  void pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
  Options options() {
    Options made;
    made.watchdog = std::chrono::seconds(9);
    return made;
  }
  /// Another client ends the session, as its owner would.
  void end_session(Backend& backend) {
    const clientid_t id = clients.at(&backend)->session_id();
    zhandle_t* const other = ::zookeeper_init2(ZooKeeperServer::shared().address().c_str(), nullptr,
                                               static_cast<int>(session.count()), &id, nullptr,
                                               ZOO_NO_LOG_CLIENTENV, [](const char*) {});
    while (::zoo_state(other) != ZOO_CONNECTED_STATE) {
      int descriptor = -1, interest = 0;
      timeval wait{};
      ::zookeeper_interest(other, &descriptor, &interest, &wait);
      ::zookeeper_process(other, interest);
    }
    ::zookeeper_close(other);
  }

  static constexpr std::chrono::milliseconds session = std::chrono::seconds(10);
  std::map<Backend*, ZooKeeperClient*> clients;
};

}  // namespace
}  // namespace latchkey::tests

LATCHKEY_BACKEND_CONTRACT(ZooKeeper, latchkey::tests::ZooKeeperStore);
