// A ZooKeeper server that belongs to one test.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "support/process.hpp"

namespace latchkey::tests {

/// Outside the kernel's range of client ports.
[[nodiscard]] std::uint16_t free_zookeeper_port();

/// Starts a server in a temporary folder on a free port of 127.0.0.1. It answers when the
/// constructor returns. Its tick is 250 ms: sessions last from 500 ms to 20 s. The destructor kills
/// it by its id and deletes the folder. The server also ends with the thread that started it.
class ZooKeeperServer {
 public:
  /// `container_check`: how often it deletes empty folders.
  explicit ZooKeeperServer(
      std::chrono::milliseconds container_check = std::chrono::milliseconds(500));
  /// A member of an ensemble, which may not serve yet when the constructor returns. `members`: the
  /// lines of the configuration that name all of them.
  ZooKeeperServer(int number, const std::string& members);
  ZooKeeperServer(const ZooKeeperServer&) = delete;
  ZooKeeperServer& operator=(const ZooKeeperServer&) = delete;
  ~ZooKeeperServer();

  /// Why there can be no server here; empty: there can.
  [[nodiscard]] static std::string why_missing();
  /// One for all tests of the program, started by the first one. It ends with the program.
  [[nodiscard]] static ZooKeeperServer& shared();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::filesystem::path log() const { return folder_ / "log"; }
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::string uri(const std::string& rest = {}) const {
    return "zookeeper://" + address() + rest;
  }
  /// The reply to one of the four-letter words.
  [[nodiscard]] std::string ask(const std::string& word) const;
  /// How many nodes there are.
  [[nodiscard]] int nodes() const;

  void stop() { process_->stop(); }      ///< SIGSTOP
  void resume() { process_->resume(); }  ///< SIGCONT
  void kill();                           ///< SIGKILL; returns when it has ended
  void start();                          ///< again, on the same data
  void launch();                         ///< as `start`, without waiting until it serves
  void await() const;                    ///< until it serves

 private:
  void configure(const std::string& members);

  std::filesystem::path folder_;
  std::uint16_t port_ = 0;
  std::chrono::milliseconds container_check_{500};
  std::string program_ = "org.apache.zookeeper.server.ZooKeeperServerMain";
  std::unique_ptr<Process> process_;
};

}  // namespace latchkey::tests
