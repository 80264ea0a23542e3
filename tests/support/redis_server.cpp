// A Redis server of a test's own.
#include "support/redis_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace latchkey::tests {
namespace {

std::filesystem::path fresh_folder() {
  std::string name = std::filesystem::temp_directory_path() / "latchkey-redis-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  return name;
}

bool in_path(const std::string& program) {
  const char* const variable = std::getenv("PATH");
  std::istringstream folders(variable == nullptr ? "/usr/bin" : variable);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + '/' + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string program() {
  if (const char* const named = std::getenv("LATCHKEY_REDIS_SERVER")) return named;
  for (const char* const name : {"redis-server", "valkey-server"}) {
    if (in_path(name)) return name;
  }
  throw std::runtime_error(
      "these tests need redis-server or valkey-server: run `make deps`, or name one in "
      "LATCHKEY_REDIS_SERVER");
}

/// A port that nobody had a moment ago.
std::uint16_t free_port() {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  const bool bound = ::bind(probe, plain, size) == 0 && ::getsockname(probe, plain, &size) == 0;
  ::close(probe);
  if (!bound) throw std::runtime_error("no free port on 127.0.0.1");
  return ntohs(address.sin_port);
}

constexpr int attempts = 5;
constexpr std::chrono::seconds patience{30};

}  // namespace

RedisServer::RedisServer(RedisServerOptions options)
    : options_(std::move(options)), folder_(fresh_folder()) {
  try {
    if (options_.tls) certificates_.emplace(folder_, options_.tls_names);
    start_on_free_ports();
  } catch (...) {
    std::filesystem::remove_all(folder_);
    throw;
  }
}

RedisServer::~RedisServer() {
  process_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

// Somebody else may take a port between our look and the server's.
void RedisServer::start_on_free_ports() {
  for (int attempt = 1;; ++attempt) {
    port_ = free_port();
    if (options_.tls) tls_port_ = free_port();
    try {
      return start();
    } catch (const std::runtime_error&) {
      if (attempt == attempts) throw;
    }
  }
}

void RedisServer::write_config() const {
  std::ofstream file(folder_ / "redis.conf");
  file << "bind 127.0.0.1\nport " << port_ << "\nunixsocket " << socket()
       << "\nunixsocketperm 700\ndir " << folder_.string()
       << "\nsave \"\"\nappendonly no\ndaemonize no\n";
  if (certificates_) {
    file << "tls-port " << tls_port_ << "\ntls-ca-cert-file " << certificates_->authority
         << "\ntls-cert-file " << certificates_->server << "\ntls-key-file "
         << certificates_->server_key << "\ntls-auth-clients optional\n";
  }
  for (const std::string& line : options_.config) file << line << '\n';
}

bool RedisServer::answers() const {
  try {
    const Reply reply = client()({"PING"});
    // Where a password is demanded or the data is being loaded, the answer is an error.
    return !reply.is_error() || reply.text().starts_with("NOAUTH");
  } catch (const std::runtime_error&) {
    return false;
  }
}

void RedisServer::start() {
  write_config();
  process_ = std::make_unique<Process>(std::vector<std::string>{program(), folder_ / "redis.conf"},
                                       folder_ / "log");
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!answers()) {
    if (process_->ended() || std::chrono::steady_clock::now() >= end) {
      process_.reset();
      std::ostringstream log;
      log << "the server does not answer; its log:\n" << std::ifstream(folder_ / "log").rdbuf();
      throw std::runtime_error(log.str());
    }
    ::poll(nullptr, 0, 2);  // a server tells nobody that it has begun to listen
  }
}

void RedisServer::kill() {
  process_->signal(SIGKILL);
  process_->wait();
}

void RedisServer::shut_down() {
  process_->signal(SIGTERM);
  process_->wait();
}

}  // namespace latchkey::tests
