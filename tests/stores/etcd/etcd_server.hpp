// An etcd server that belongs to one test.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/servers/certificates.hpp"

namespace latchkey::tests {

/// In memory, if there is some: etcd waits for the disk with each write.
[[nodiscard]] std::filesystem::path fresh_etcd_folder();
/// Outside the kernel's range of client ports.
[[nodiscard]] std::uint16_t free_etcd_port();

/// Starts etcd in a temporary folder, on free ports of 127.0.0.1. It serves when the constructor
/// returns. The destructor kills it by its id and deletes the folder. It also ends with the thread
/// that started it. The programs are $LATCHKEY_ETCD and $LATCHKEY_ETCDCTL, or etcd and etcdctl.
class EtcdServer {
 public:
  /// `tls`: with certificates for 127.0.0.1 and localhost; the clients need one as well.
  enum class Tls : std::uint8_t { off, on };
  explicit EtcdServer(Tls tls = Tls::off);
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;
  ~EtcdServer();

  /// `options`: behind the '?', or empty.
  [[nodiscard]] std::string uri(const std::string& options = {}) const;
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// With TLS only.
  [[nodiscard]] const Certificates& certificates() const { return *certificates_; }
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  [[nodiscard]] std::filesystem::path log() const { return folder_ / "log"; }

  /// Runs etcdctl to its end and returns what it has printed. `status`, if it is not null: receives
  /// the exit status; otherwise another one than 0 throws std::runtime_error.
  std::string ctl(const std::vector<std::string>& arguments, int* status = nullptr) const;
  /// The command line of etcdctl for this server.
  [[nodiscard]] std::vector<std::string> ctl_words(const std::vector<std::string>& arguments) const;
  /// The keys below a prefix.
  [[nodiscard]] std::vector<std::string> keys(const std::string& prefix) const;

  void stop();    ///< SIGSTOP
  void resume();  ///< SIGCONT
  void kill();    ///< SIGKILL; returns when it has ended
  /// Again, after kill: same folder, ports and data. `more`: words for its command line.
  void start(const std::vector<std::string>& more = {});

 private:
  void await() const;

  std::filesystem::path folder_;
  std::uint16_t port_ = 0, peer_port_ = 0;
  std::optional<Certificates> certificates_;
  std::unique_ptr<Process> process_;
};

}  // namespace latchkey::tests
