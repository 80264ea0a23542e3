// A TCP gate between a client and its server: the network that tests break.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/fault_proxy_stream.hpp"

namespace latchkey::tests {

/// Listens on a free port of 127.0.0.1 and hands every connection's bytes on to the server's port,
/// each direction under rules of its own. What is said applies to the connections there are and,
/// but for hold, to those to come. Thread-safe; each call is carried out when it returns.
///
/// | call     | what becomes of bytes in that direction                                      |
/// |----------|------------------------------------------------------------------------------|
/// | hold     | kept, of the connections there are now; also when their client has gone      |
/// | pass     | what was kept goes on, and no rule is left                                   |
/// | delay    | each piece goes on so much later                                             |
/// | drop     | they vanish                                                                  |
/// | fragment | written in pieces of that many bytes                                         |
/// | freeze   | nothing is read: the sender's buffers fill                                   |
class FaultProxy {
 public:
  explicit FaultProxy(std::uint16_t server_port);
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;
  ~FaultProxy();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string uri() const { return "redis://127.0.0.1:" + std::to_string(port_); }

  enum class Way : std::uint8_t { to_server, to_client };

  void hold(Way way);
  void pass(Way way);
  void delay(Way way, std::chrono::milliseconds time);
  void drop(Way way);
  void fragment(Way way, std::size_t size);
  void freeze(Way way);

  /// Resets the connections towards both sides; what was kept is gone.
  void cut();
  /// Resets them towards their clients only: what was kept can still be passed to the server.
  void cut_clients();
  /// From now on (or no longer) connections are closed as soon as they are made.
  void refuse(bool yes);

  /// How many connections clients have open through it, and how many were ever made.
  [[nodiscard]] std::size_t connections();
  [[nodiscard]] std::size_t made();

 private:
  struct Connection {
    GateStream to_server, to_client;
    int client = -1, server = -1;
    bool client_gone = false;
  };

  void run();
  void accept_one();
  void forward(Connection& connection);
  void reset_client(Connection& connection);
  void close_both(Connection& connection, bool reset);
  void carry_out(std::function<void()> what);
  void for_all(Way way, const std::function<void(GateStream&)>& change);

  const std::uint16_t server_port_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  int wake_ = -1;
  GateRules rules_[2];  // of connections to come
  bool refusing_ = false;
  bool ending_ = false;
  std::size_t made_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::mutex mutex_;
  std::deque<std::function<void()>> commands_;
  std::thread thread_;
};

}  // namespace latchkey::tests
