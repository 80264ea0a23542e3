// A MariaDB server that belongs to one test program.
#pragma once

#include <mysql.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/process.hpp"

namespace latchkey::tests {

/// A blocking connection, for tests. Throws std::runtime_error with the server's words.
class MysqlSession {
 public:
  MysqlSession(const std::string& socket, const std::string& user, const std::string& database);
  MysqlSession(const MysqlSession&) = delete;
  MysqlSession& operator=(const MysqlSession&) = delete;
  ~MysqlSession();

  using Rows = std::vector<std::vector<std::string>>;
  /// The rows of the last statement; several are separated by ';'.
  Rows operator()(const std::string& text);
  /// The first cell of the first row; empty: there is none.
  std::string one(const std::string& text);
  /// How many rows one statement has changed.
  std::uint64_t changes(const std::string& text);

 private:
  MYSQL* mysql_;
};

/// Starts a server in a temporary folder, on a Unix socket there and on a free port of 127.0.0.1,
/// with the database `app` and the users `locks` (password "se:cr@t", what locks need) and `owner`
/// (password "owner", all privileges on `app`). The server ends with the thread that started it.
///
/// The program is mariadbd; if it is not installed, the constructor throws a std::runtime_error
/// that says what to install.
class MysqlServer {
 public:
  explicit MysqlServer(std::vector<std::string> options = {});
  MysqlServer(const MysqlServer&) = delete;
  MysqlServer& operator=(const MysqlServer&) = delete;
  ~MysqlServer();

  [[nodiscard]] std::string socket() const { return folder_ / "socket"; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::filesystem::path log() const { return folder_ / "log"; }
  /// mysql://locks:…@127.0.0.1:port/app
  [[nodiscard]] std::string uri(std::string_view database = "app") const;
  [[nodiscard]] std::string owner_uri(std::string_view database = "app") const;
  /// By the Unix socket, with `create=yes`.
  [[nodiscard]] std::string socket_uri() const;
  /// As root.
  [[nodiscard]] MysqlSession session(const std::string& database = "app") const;
  /// Runs the DDL in a database.
  void create(const std::string& database) const;

  void stop();       ///< SIGSTOP
  void resume();     ///< SIGCONT
  void kill();       ///< SIGKILL; returns when it has ended
  void shut_down();  ///< SIGTERM, as a service manager does; returns when it has ended
  void start();      ///< again: same data, same port
  void serve_again();
  /// Ends the connections of the users of locks.
  int disconnect_users() const;

 private:
  void install() const;
  [[nodiscard]] bool answers() const;

  std::vector<std::string> options_;
  std::filesystem::path folder_;
  std::uint16_t port_ = 0;
  bool stopped_ = false;
  std::unique_ptr<Process> process_;
};

/// The server of the whole program; keys are never used twice.
MysqlServer& mysql_server();

}  // namespace latchkey::tests
