// A Redis server that belongs to one test.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/servers/certificates.hpp"
#include "support/servers/redis_client.hpp"

namespace latchkey::tests {

struct RedisServerOptions {
  /// Further lines of redis.conf, such as "maxmemory 10mb".
  std::vector<std::string> config{};
  /// Also listens with TLS; certificates for `tls_names` are made.
  bool tls = false;
  std::string tls_names = "DNS:localhost,IP:127.0.0.1";
  /// The server's password (requirepass), which it sends to its master (masterauth). client() logs
  /// in with it.
  std::string password{};
  /// A node of a cluster. Its bus port is its port plus 10 000, as other nodes expect.
  bool cluster = false;
  /// Words before the name of the program, such as "env" and variables.
  std::vector<std::string> launcher{};
  /// Arguments after the name of the file, such as "--sentinel".
  std::vector<std::string> arguments{};
};

/// Starts a server in a temporary folder, on a Unix socket there and on a free port of 127.0.0.1.
/// The server replies to commands when the constructor returns. It has no persistence unless
/// configured. The destructor kills it by its id and deletes the folder. The server also ends with
/// the thread that started it.
///
/// redis.conf is written once, so that what the server writes there (CONFIG REWRITE, the state of a
/// sentinel) survives start().
///
/// The program is $LATCHKEY_REDIS_SERVER, or redis-server, or valkey-server. If there is none, the
/// constructor throws a std::runtime_error that says what to install.
class RedisServer {
 public:
  explicit RedisServer(RedisServerOptions options = {});
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer();

  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  [[nodiscard]] std::string socket() const { return folder_ / "socket"; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::uint16_t tls_port() const noexcept { return tls_port_; }
  [[nodiscard]] const Certificates& certificates() const { return *certificates_; }
  /// 602 means Redis 6.2. For Valkey: the version of Redis that it is compatible with.
  [[nodiscard]] int version() const;
  /// The ACL rule that permits all channels. Redis before 6.2 has no such rule: there it is
  /// "+@all", which must precede the rules that forbid commands.
  [[nodiscard]] std::string_view all_channels() const { return version() < 602 ? "+@all" : "&*"; }
  [[nodiscard]] pid_t id() const noexcept { return process_->id(); }

  /// redis+unix:///…/socket, redis://127.0.0.1:port
  [[nodiscard]] std::string unix_uri() const { return "redis+unix://" + socket(); }
  [[nodiscard]] std::string tcp_uri() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  /// Logged in if the server has a password.
  [[nodiscard]] RedisClient client() const;
  [[nodiscard]] RedisClient client_tcp() const;

  /// Whether the server runs and is not stopped.
  [[nodiscard]] bool serves() const { return !stopped_ && process_ && !process_->ended(); }

  void stop();         ///< SIGSTOP
  void resume();       ///< SIGCONT
  void kill();         ///< SIGKILL; returns when it has ended
  void shut_down();    ///< SIGTERM; returns when it has ended
  void start();        ///< again, after kill or shut_down: same folder, ports and redis.conf
  void serve_again();  ///< resumes or starts it if necessary

 private:
  void start_on_free_ports();
  void write_config() const;
  [[nodiscard]] RedisClient admitted(RedisClient client) const;
  [[nodiscard]] bool answers() const;

  RedisServerOptions options_;
  std::filesystem::path folder_;
  std::uint16_t port_ = 0, tls_port_ = 0;
  bool stopped_ = false;
  std::optional<Certificates> certificates_;
  std::unique_ptr<Process> process_;
};

}  // namespace latchkey::tests
