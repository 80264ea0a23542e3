// Starts and stops a MariaDB server.
#include "stores/mysql/mysql_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <latchkey/mysql.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "stores/mysql/ddl.hpp"

namespace latchkey::tests {
namespace {

constexpr std::string_view server_program = "/usr/sbin/mariadbd";
constexpr std::string_view install_program = "/usr/bin/mariadb-install-db";
constexpr std::chrono::seconds patience{60};

/// In memory, if there is room: a server that writes to a busy disk answers late. Elsewhere if
/// LATCHKEY_MYSQL_DATA names a folder.
std::filesystem::path fresh_folder() {
  const std::filesystem::path memory = "/dev/shm";
  std::error_code none;
  constexpr std::uintmax_t enough = std::uintmax_t{256} << 20;
  const bool usable = ::access(memory.c_str(), W_OK) == 0 &&
                      std::filesystem::space(memory, none).available >= enough && !none;
  std::string name =
      (usable ? memory : std::filesystem::temp_directory_path()) / "latchkey-mysql-XXXXXX";
  if (const char* const chosen = std::getenv("LATCHKEY_MYSQL_DATA")) {
    name = std::string(chosen) + "/latchkey-mysql-XXXXXX";
  }
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  return name;
}

/// Outside the range of client ports.
std::uint16_t free_port() {
  std::random_device random;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const auto port = static_cast<std::uint16_t>(12'000 + random() % 20'000);
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool bound = ::bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(probe);
    if (bound) return port;
  }
  throw std::runtime_error("no free port on 127.0.0.1");
}

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

MysqlSession::MysqlSession(const std::string& socket, const std::string& user,
                           const std::string& database)
    : mysql_(mysql_init(nullptr)) {
  if (mysql_real_connect(mysql_, nullptr, user.c_str(), "", database.c_str(), 0, socket.c_str(),
                         CLIENT_MULTI_STATEMENTS) == nullptr) {
    std::string why = mysql_error(mysql_);
    mysql_close(mysql_);
    throw std::runtime_error(why);
  }
}

MysqlSession::~MysqlSession() { mysql_close(mysql_); }

MysqlSession::Rows MysqlSession::operator()(const std::string& text) {
  int code = mysql_real_query(mysql_, text.data(), text.size());
  Rows rows;
  while (code == 0) {
    if (MYSQL_RES* const stored = mysql_store_result(mysql_)) {
      rows.clear();
      while (MYSQL_ROW row = mysql_fetch_row(stored)) {
        std::vector<std::string>& cells = rows.emplace_back();
        for (unsigned column = 0; column < mysql_num_fields(stored); ++column) {
          cells.emplace_back(row[column] == nullptr ? "" : row[column]);
        }
      }
      mysql_free_result(stored);
    }
    code = mysql_next_result(mysql_);
  }
  if (mysql_errno(mysql_) != 0) throw std::runtime_error(mysql_error(mysql_));
  return rows;
}

std::string MysqlSession::one(const std::string& text) {
  const Rows rows = (*this)(text);
  return rows.empty() ? std::string() : rows.front().front();
}

std::uint64_t MysqlSession::changes(const std::string& text) {
  if (mysql_real_query(mysql_, text.data(), text.size()) != 0) {
    throw std::runtime_error(mysql_error(mysql_));
  }
  return mysql_affected_rows(mysql_);
}

MysqlServer::MysqlServer(std::vector<std::string> options)
    : options_(std::move(options)), folder_(fresh_folder()), port_(free_port()) {
  try {
    if (::access(server_program.data(), X_OK) != 0) {
      throw std::runtime_error("these tests need mariadbd: run `make deps-stores`");
    }
    install();
    start();
    session("mysql")(
        "CREATE DATABASE app; CREATE USER locks IDENTIFIED BY 'se:cr@t'; "
        "GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON app.* TO locks; CREATE USER owner "
        "IDENTIFIED BY 'owner'; "
        "GRANT ALL ON app.* TO owner; FLUSH PRIVILEGES");
    create("app");
  } catch (...) {
    process_.reset();
    std::filesystem::remove_all(folder_);
    throw;
  }
}

MysqlServer::~MysqlServer() {
  process_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

// A server that starts deletes the temporary tables of all others that share its folder for them.
void MysqlServer::install() const {
  run({std::string(install_program), "--no-defaults", "--user=root",
       "--datadir=" + (folder_ / "data").string(), "--tmpdir=" + folder_.string(),
       "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve",
       "--innodb-log-file-size=16M"},
      folder_ / "log");
}

void MysqlServer::create(const std::string& database) const {
  MysqlSession one = session(database);
  for (const std::string_view statement : detail::mysql::statements) {
    one(std::string(statement));
  }
}

bool MysqlServer::answers() const {
  try {
    return session("mysql").one("SELECT 1") == "1";
  } catch (const std::runtime_error&) {
    return false;
  }
}

void MysqlServer::start() {
  std::vector<std::string> words{std::string(server_program),
                                 "--no-defaults",
                                 "--user=root",
                                 "--datadir=" + (folder_ / "data").string(),
                                 "--tmpdir=" + folder_.string(),
                                 "--socket=" + socket(),
                                 "--port=" + std::to_string(port_),
                                 "--bind-address=127.0.0.1",
                                 "--pid-file=" + (folder_ / "pid").string(),
                                 "--skip-name-resolve",
                                 "--innodb-buffer-pool-size=16M",
                                 "--innodb-log-file-size=16M",
                                 "--max-connections=200",
                                 "--skip-ssl"};  // newer servers make a certificate by themselves
  words.insert(words.end(), options_.begin(), options_.end());
  process_ = std::make_unique<Process>(words, folder_ / "log");
  stopped_ = false;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!answers()) {
    if (process_->ended() || std::chrono::steady_clock::now() >= end) {
      process_.reset();
      throw std::runtime_error("the server does not answer; its log:\n" + text_of(folder_ / "log"));
    }
    ::poll(nullptr, 0, 5);  // a server does not report when it begins to listen
  }
}

std::string MysqlServer::uri(std::string_view database) const {
  return "mysql://locks:se%3Acr%40t@127.0.0.1:" + std::to_string(port_) + "/" +
         std::string(database);
}

std::string MysqlServer::owner_uri(std::string_view database) const {
  return "mysql://owner:owner@127.0.0.1:" + std::to_string(port_) + "/" + std::string(database);
}

std::string MysqlServer::socket_uri() const {
  std::string encoded;
  for (const char each : socket()) encoded += each == '/' ? std::string("%2F") : std::string{each};
  return "mysql://owner:owner@localhost/app?create=yes&socket=" + encoded;
}

MysqlSession MysqlServer::session(const std::string& database) const {
  return {socket(), "root", database};
}

void MysqlServer::stop() {
  process_->stop();
  stopped_ = true;
}

void MysqlServer::resume() {
  process_->resume();
  stopped_ = false;
}

void MysqlServer::kill() {
  process_->signal(SIGKILL);
  process_->wait();
  stopped_ = false;
}

void MysqlServer::shut_down() {
  process_->signal(SIGTERM);
  process_->wait();
  stopped_ = false;
}

void MysqlServer::serve_again() {
  if (stopped_) {
    resume();
  } else if (process_ == nullptr || process_->ended()) {
    start();
  }
}

int MysqlServer::disconnect_users() const {
  MysqlSession root = session("mysql");
  const auto rows =
      root("SELECT id FROM information_schema.PROCESSLIST WHERE user IN ('locks','owner')");
  for (const auto& row : rows) {
    try {
      root("KILL " + row.front());
    } catch (const std::runtime_error&) {  // it has ended in the meantime
    }
  }
  return static_cast<int>(rows.size());
}

MysqlServer& mysql_server() {
  static MysqlServer server;
  return server;
}

}  // namespace latchkey::tests
