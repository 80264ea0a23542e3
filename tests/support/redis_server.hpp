// A Redis server of a test's own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/certificates.hpp"
#include "support/process.hpp"
#include "support/redis_client.hpp"

namespace latchkey::tests {

struct RedisServerOptions {
  /// Lines of redis.conf, behind ours: "maxmemory 10mb".
  std::vector<std::string> config{};
  /// Also listens with TLS; certificates for `tls_names` are made.
  bool tls = false;
  std::string tls_names = "DNS:localhost,IP:127.0.0.1";
  /// Asked of everybody (requirepass), shown to a master (masterauth) and given by client().
  std::string password{};
  /// A node of a cluster, with its bus where nodes look for it: 10 000 ports above its own.
  bool cluster = false;
  /// Behind the name of the file: "--sentinel".
  std::vector<std::string> arguments{};
};

/// Starts a real server in a temporary folder, on a Unix socket there and on a free port of
/// 127.0.0.1; answers when the constructor returns. It saves nothing unless told to. Ended by its
/// id, and the folder wiped, with this object; or with the thread that started it.
///
/// Its redis.conf is written once: what the server wrote there itself (CONFIG REWRITE, a sentinel's
/// knowledge) holds after start(), too.
///
/// The program is what $LATCHKEY_REDIS_SERVER names, else redis-server, else valkey-server; where
/// there is none, the constructor throws a std::runtime_error that says what to install.
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
  /// 602 is Redis 6.2; of Valkey, the Redis that it takes the place of.
  [[nodiscard]] int version() const;
  /// The rule that lets a user to all channels. Before Redis 6.2 there is none, and another that
  /// changes nothing takes its place: before those that take something away.
  [[nodiscard]] std::string_view all_channels() const { return version() < 602 ? "+@all" : "&*"; }
  [[nodiscard]] pid_t id() const noexcept { return process_->id(); }

  /// redis+unix:///…/socket, redis://127.0.0.1:port
  [[nodiscard]] std::string unix_uri() const { return "redis+unix://" + socket(); }
  [[nodiscard]] std::string tcp_uri() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  /// Logged in where there is a password.
  [[nodiscard]] RedisClient client() const;
  [[nodiscard]] RedisClient client_tcp() const;

  /// Neither ended nor stopped.
  [[nodiscard]] bool serves() const { return !stopped_ && process_ && !process_->ended(); }

  void stop();         ///< SIGSTOP
  void resume();       ///< SIGCONT
  void kill();         ///< SIGKILL, and back when it has ended
  void shut_down();    ///< SIGTERM, and back when it has ended
  void start();        ///< again, after one of them: same folder, same ports, same redis.conf
  void serve_again();  ///< one of both, as it needs; nothing where it serves

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
