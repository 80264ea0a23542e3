// A TCP proxy between a client and its server that injects network faults.
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

#include "support/servers/fault_proxy_stream.hpp"

namespace latchkey::tests {

/// Listens on a free port of 127.0.0.1 and forwards the bytes of each connection to the server's
/// port. Each direction has its own rules. A rule applies to open connections and, except for hold,
/// to later ones. Thread-safe. A call has taken effect when it returns; it throws
/// std::runtime_error if that takes 30 s.
///
/// | call     | effect on the bytes of that direction                                        |
/// |----------|------------------------------------------------------------------------------|
/// | hold     | kept, on open connections only, even after their client has disconnected     |
/// | pass     | kept bytes are forwarded, and all rules are removed                          |
/// | delay    | each piece is forwarded this much later                                      |
/// | drop     | discarded                                                                    |
/// | fragment | written in pieces of this many bytes                                         |
/// | freeze   | not read, so that the sender's buffers fill                                  |
/// | cut_after| this many more are forwarded, then the connection is reset; open ones only   |
class FaultProxy {
 public:
  explicit FaultProxy(std::uint16_t server_port);
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;
  ~FaultProxy();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string uri() const { return "redis://127.0.0.1:" + std::to_string(port_); }

  enum class Direction : std::uint8_t { to_server, to_client };

  void hold(Direction direction);
  void pass(Direction direction);
  void delay(Direction direction, std::chrono::milliseconds time);
  void drop(Direction direction);
  void fragment(Direction direction, std::size_t size);
  void freeze(Direction direction);
  void cut_after(Direction direction, std::size_t bytes);

  /// Resets the connections to both sides and discards kept bytes.
  void cut();
  /// Resets the connections to the clients only. Kept bytes can still be passed to the server.
  void cut_clients();
  /// Whether new connections are reset at once.
  void refuse(bool yes);

  /// How many connections clients have open, and how many they have made that were not refused.
  [[nodiscard]] std::size_t connections();
  [[nodiscard]] std::size_t made();

 private:
  struct Connection {
    ProxyStream to_server, to_client;
    int client = -1, server = -1;
    bool client_gone = false;
  };

  void run();
  void accept_one();
  void forward(Connection& connection);
  void reset_client(Connection& connection);
  void close_both(Connection& connection, bool reset);
  void carry_out(std::function<void()> command);
  void for_all(Direction direction, const std::function<void(ProxyStream&)>& change);

  const std::uint16_t server_port_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  int wake_ = -1;
  ProxyRules rules_[2];  // apply to new connections
  bool refusing_ = false;
  bool ending_ = false;
  std::size_t made_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::mutex mutex_;
  std::deque<std::function<void()>> commands_;
  std::thread thread_;
};

}  // namespace latchkey::tests
