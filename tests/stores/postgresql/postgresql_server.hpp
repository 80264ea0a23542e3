// A PostgreSQL server that belongs to a test program.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace latchkey::tests {

/// A blocking connection for what the tests want to know.
class Sql {
 public:
  /// `parameters`: a connection string of libpq. Throws std::runtime_error.
  explicit Sql(const std::string& parameters);
  /// The cells of all rows. Throws std::runtime_error with the server's words.
  std::vector<std::string> operator()(const std::string& statement);
  /// The first cell; empty: there is none.
  std::string one(const std::string& statement);
  /// For calls of libpq. Ends with this object.
  [[nodiscard]] PGconn* connection() const noexcept { return connection_.get(); }

 private:
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
};

/// Starts a server in a temporary folder, on a Unix socket there and on a free port of 127.0.0.1.
/// It accepts connections when the constructor returns. Its superuser is `admin`; the databases are
/// `postgres`, and `locks` with latchkey's tables. The role `plain` may use those tables, the role
/// `stranger` may not; a password is needed over TCP: each has its own name as the password. The
/// destructor kills the server and deletes the folder. The server also ends with the thread that
/// started it.
///
/// The programs are in $LATCHKEY_POSTGRESQL_BIN, or where Debian puts them. If there are none, the
/// constructor throws a std::runtime_error that says what to install.
class PostgresqlServer {
 public:
  /// `settings`: further lines of postgresql.conf. By default nothing is synchronised with the
  /// disk: a killed process loses nothing that it has written.
  explicit PostgresqlServer(std::vector<std::string> settings = {"fsync = off"});
  PostgresqlServer(const PostgresqlServer&) = delete;
  PostgresqlServer& operator=(const PostgresqlServer&) = delete;
  ~PostgresqlServer();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  [[nodiscard]] std::filesystem::path log() const { return folder_ / "log"; }
  /// Over TCP, as `plain`.
  [[nodiscard]] std::string uri(const std::string& options = {}) const;
  /// Over the Unix socket, as `plain`.
  [[nodiscard]] std::string socket_uri(const std::string& options = {}) const;
  [[nodiscard]] std::string uri_of(const std::string& login, const std::string& database) const;
  /// As `admin`.
  [[nodiscard]] Sql sql(const std::string& database = "locks") const;

  void stop();       ///< SIGSTOP, all its processes
  void resume();     ///< SIGCONT
  void kill();       ///< SIGKILL, all its processes; returns when they have ended
  void shut_down();  ///< fast shutdown
  void start();      ///< again, on the same data

  /// Runs a program as the server's user would be run, in the server's folder.
  static std::vector<std::string> unprivileged(std::vector<std::string> command);
  static std::uint16_t free_port();

 private:
  void signal_all(int number) const;
  [[nodiscard]] bool answers() const;
  void make_cluster(const std::vector<std::string>& settings);
  void make_databases() const;

  std::filesystem::path folder_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Process> process_;
};

}  // namespace latchkey::tests
