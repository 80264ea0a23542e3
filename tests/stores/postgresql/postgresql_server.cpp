// Starts and stops a PostgreSQL server.
// SPDX-License-Identifier: BSL-1.0
#include "postgresql_server.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>

#include "stores/postgresql/ddl.hpp"

namespace latchkey::tests {
namespace {

constexpr std::chrono::seconds longest_start{60};

std::string program(const std::string& name) {
  std::vector<std::string> folders;
  if (const char* const named = std::getenv("LATCHKEY_POSTGRESQL_BIN")) folders.emplace_back(named);
  const std::filesystem::path versions = "/usr/lib/postgresql";
  if (std::filesystem::exists(versions)) {
    for (const auto& version : std::filesystem::directory_iterator(versions)) {
      folders.push_back((version.path() / "bin").string());
    }
  }
  for (const std::string& folder : folders) {
    const std::string path = folder + '/' + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  throw std::runtime_error("these tests need " + name +
                           ": run `make deps-stores`, or name its folder in "
                           "LATCHKEY_POSTGRESQL_BIN");
}

std::filesystem::path fresh_folder() {
  const std::filesystem::path memory = "/dev/shm";
  std::error_code none;
  constexpr std::uintmax_t enough = std::uintmax_t{400} << 20;
  const bool usable = ::access(memory.c_str(), W_OK) == 0 &&
                      std::filesystem::space(memory, none).available >= enough && !none;
  std::string name =
      (usable ? memory : std::filesystem::temp_directory_path()) / "latchkey-postgresql-XXXXXX";
  if (const char* const chosen = std::getenv("LATCHKEY_POSTGRESQL_DATA")) {
    name = std::string(chosen) + "/latchkey-postgresql-XXXXXX";
  }
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  return name;
}

/// Who runs the server if root runs the tests: PostgreSQL refuses to run as root.
const passwd* server_user() {
  if (::geteuid() != 0) return nullptr;
  const passwd* const user = ::getpwnam("postgres");
  return user != nullptr ? user : ::getpwnam("nobody");
}

std::vector<pid_t> children_of(pid_t parent) {
  const std::string path =
      "/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children";
  std::ifstream file(path);
  std::vector<pid_t> all;
  for (pid_t id = 0; file >> id;) all.push_back(id);
  return all;
}

}  // namespace

Sql::Sql(const std::string& parameters)
    : connection_(::PQconnectdb(parameters.c_str()), ::PQfinish) {
  if (::PQstatus(connection_.get()) != CONNECTION_OK) {
    throw std::runtime_error(::PQerrorMessage(connection_.get()));
  }
  ::PQsetNoticeReceiver(connection_.get(), [](void*, const PGresult*) {}, nullptr);
}

std::vector<std::string> Sql::operator()(const std::string& statement) {
  const std::unique_ptr<PGresult, void (*)(PGresult*)> result(
      ::PQexec(connection_.get(), statement.c_str()), ::PQclear);
  const ExecStatusType status = ::PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    throw std::runtime_error(::PQerrorMessage(connection_.get()));
  }
  std::vector<std::string> cells;
  for (int row = 0; row < ::PQntuples(result.get()); ++row) {
    for (int column = 0; column < ::PQnfields(result.get()); ++column) {
      cells.emplace_back(::PQgetvalue(result.get(), row, column));
    }
  }
  return cells;
}

std::string Sql::one(const std::string& statement) {
  const std::vector<std::string> cells = (*this)(statement);
  return cells.empty() ? std::string() : cells.front();
}

std::uint16_t PostgresqlServer::free_port() {
  static std::atomic<unsigned> next = std::random_device{}();
  for (int look = 0; look < 20'000; ++look) {
    const auto port = static_cast<std::uint16_t>(12'000 + next++ % 20'000);
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

std::vector<std::string> PostgresqlServer::unprivileged(std::vector<std::string> command) {
  const passwd* const user = server_user();
  if (user == nullptr) return command;
  std::vector<std::string> all = {"setpriv",
                                  "--reuid=" + std::to_string(user->pw_uid),
                                  "--regid=" + std::to_string(user->pw_gid),
                                  "--clear-groups",
                                  "--pdeathsig=KILL",
                                  "--"};
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

PostgresqlServer::PostgresqlServer(std::vector<std::string> settings) : folder_(fresh_folder()) {
  try {
    make_cluster(settings);
    start();
    make_databases();
  } catch (...) {
    process_.reset();
    std::filesystem::remove_all(folder_);
    throw;
  }
}

PostgresqlServer::~PostgresqlServer() {
  if (process_ && !process_->ended()) {
    signal_all(SIGCONT);
    process_->signal(SIGQUIT);  // unlike SIGKILL, it leaves no shared memory
    process_->wait();
  }
  process_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void PostgresqlServer::make_cluster(const std::vector<std::string>& settings) {
  if (const passwd* const user = server_user()) {
    if (::chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) {
      throw std::runtime_error("cannot give away " + folder_.string());
    }
  }
  std::ofstream(folder_ / "password") << "admin\n";
  std::filesystem::permissions(folder_ / "password", std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  run(unprivileged({program("initdb"), "-D", folder_ / "data", "-U", "admin", "-N", "-E", "UTF8",
                    "--locale=C", "--auth-local=trust", "--auth-host=scram-sha-256",
                    "--pwfile=" + (folder_ / "password").string()}),
      folder_ / "initdb.log");
  port_ = free_port();
  std::ofstream file(folder_ / "data" / "postgresql.conf", std::ios::app);
  file << "listen_addresses = '127.0.0.1'\nport = " << port_ << "\nunix_socket_directories = '"
       << folder_.string() << "'\nshared_buffers = 32MB\nmax_connections = 120\n";
  for (const std::string& line : settings) file << line << '\n';
}

void PostgresqlServer::make_databases() const {
  Sql first = sql("postgres");
  for (const std::string role : {"plain", "stranger"}) {
    first("CREATE ROLE " + role + " LOGIN PASSWORD '" + role + "'");
  }
  first("CREATE DATABASE locks");
  Sql locks = sql();
  locks(std::string(detail::postgresql::ddl));
  locks("GRANT USAGE ON SCHEMA latchkey TO plain");
  locks("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA latchkey TO plain");
  locks("GRANT USAGE ON ALL SEQUENCES IN SCHEMA latchkey TO plain");
}

Sql PostgresqlServer::sql(const std::string& database) const {
  return Sql("host=" + folder_.string() + " port=" + std::to_string(port_) +
             " user=admin dbname=" + database);
}

std::string PostgresqlServer::uri_of(const std::string& login, const std::string& database) const {
  return "postgresql://" + login + "@127.0.0.1:" + std::to_string(port_) + '/' + database;
}

std::string PostgresqlServer::uri(const std::string& options) const {
  return uri_of("plain:plain", "locks") + options;
}

std::string PostgresqlServer::socket_uri(const std::string& options) const {
  std::string path;
  for (const char one : folder_.string()) path += one == '/' ? "%2F" : std::string(1, one);
  return "postgresql://plain@" + path + ':' + std::to_string(port_) + "/locks" + options;
}

bool PostgresqlServer::answers() const {
  try {
    return sql("postgres").one("SELECT 1") == "1";
  } catch (const std::runtime_error&) {
    return false;
  }
}

void PostgresqlServer::start() {
  process_ = std::make_unique<Process>(unprivileged({program("postgres"), "-D", folder_ / "data"}),
                                       folder_ / "log");
  const auto end = std::chrono::steady_clock::now() + longest_start;
  while (!answers()) {
    if (process_->ended() || std::chrono::steady_clock::now() >= end) {
      process_.reset();
      std::ostringstream log;
      log << "the server does not answer; its log:\n" << std::ifstream(folder_ / "log").rdbuf();
      throw std::runtime_error(log.str());
    }
    ::poll(nullptr, 0, 5);  // a server does not report when it begins to listen
  }
}

void PostgresqlServer::signal_all(int number) const {
  const std::vector<pid_t> children = children_of(process_->id());
  process_->signal(number);
  for (const pid_t child : children) ::kill(child, number);
}

void PostgresqlServer::stop() {
  process_->stop();
  signal_all(SIGSTOP);
}

void PostgresqlServer::resume() {
  signal_all(SIGCONT);
  process_->resume();
}

void PostgresqlServer::kill() {
  process_->stop();  // starts no further process
  const std::vector<pid_t> children = children_of(process_->id());
  for (const pid_t child : children) ::kill(child, SIGKILL);
  process_->signal(SIGKILL);
  process_->wait();
  for (const pid_t child : children) {
    while (::kill(child, 0) == 0) ::poll(nullptr, 0, 1);
  }
  std::filesystem::remove(folder_ / "data" / "postmaster.pid");
}

void PostgresqlServer::shut_down() {
  process_->signal(SIGINT);
  process_->wait();
}

}  // namespace latchkey::tests
