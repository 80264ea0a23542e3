// Starts and stops a Redis server.
#include "support/servers/redis_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace latchkey::tests {
namespace {

/// In memory, if there is room: a server that writes to a busy disk answers late.
std::filesystem::path temporary_folders() {
  constexpr std::uintmax_t enough = std::uintmax_t{32} << 20;
  const std::filesystem::path memory = "/dev/shm";
  std::error_code none;
  const bool usable = ::access(memory.c_str(), W_OK) == 0 &&
                      std::filesystem::space(memory, none).available >= enough && !none;
  return usable ? memory : std::filesystem::temp_directory_path();
}

std::filesystem::path fresh_folder() {
  std::string name = temporary_folders() / "latchkey-redis-XXXXXX";
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

bool is_free(std::uint16_t port) {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = ::bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(probe);
  return bound;
}

/// A port that is free now. `with_bus`: its bus port is free, too. It lies outside the kernel's
/// range of client ports: otherwise a client that connects to a stopped server could occupy the
/// server's port or connect to itself.
std::uint16_t free_port(bool with_bus = false) {
  static std::atomic<unsigned> next = std::random_device{}();
  constexpr unsigned lowest = 12'000, highest = 32'000, bus = 10'000;
  const unsigned count = highest - lowest - (with_bus ? bus : 0);
  for (unsigned look = 0; look < count; ++look) {
    const auto port = static_cast<std::uint16_t>(lowest + next++ % count);
    if (is_free(port) && (!with_bus || is_free(port + bus))) return port;
  }
  throw std::runtime_error("no free port on 127.0.0.1");
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

// Tries several ports, because another process may take a free port before the server does.
void RedisServer::start_on_free_ports() {
  for (int attempt = 1;; ++attempt) {
    port_ = free_port(options_.cluster);
    if (options_.tls) tls_port_ = free_port();
    write_config();
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
  if (options_.cluster) file << "cluster-enabled yes\n";
  if (!options_.password.empty()) {
    file << "requirepass " << options_.password << "\nmasterauth " << options_.password << '\n';
  }
  for (const std::string& line : options_.config) file << line << '\n';
}

bool RedisServer::answers() const {
  try {
    const Reply reply = client()({"PING"});
    // The reply is an error while the server loads its data. NOAUTH means that it is ready.
    return !reply.is_error() || reply.text().starts_with("NOAUTH");
  } catch (const std::runtime_error&) {
    return false;
  }
}

int RedisServer::version() const {
  constexpr std::string_view before = "redis_version:";
  const std::string said = client()({"INFO", "server"}).text();
  std::istringstream words(said.substr(said.find(before) + before.size()));
  int major = 0, minor = 0;
  char dot = 0;
  words >> major >> dot >> minor;
  return 100 * major + minor;
}

RedisClient RedisServer::admitted(RedisClient client) const {
  if (options_.password.empty()) return client;
  const Reply reply = client({"AUTH", options_.password});
  if (reply.is_error()) throw std::runtime_error(reply.text());
  return client;
}

RedisClient RedisServer::client() const { return admitted(RedisClient::unix_socket(socket())); }

RedisClient RedisServer::client_tcp() const {
  return admitted(RedisClient::tcp("127.0.0.1", port_));
}

void RedisServer::start() {
  std::vector<std::string> words = options_.launcher;
  words.insert(words.end(), {program(), folder_ / "redis.conf"});
  words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
  process_ = std::make_unique<Process>(words, folder_ / "log");
  stopped_ = false;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!answers()) {
    if (process_->ended() || std::chrono::steady_clock::now() >= end) {
      process_.reset();
      std::ostringstream log;
      log << "the server does not answer; its log:\n" << std::ifstream(folder_ / "log").rdbuf();
      throw std::runtime_error(log.str());
    }
    ::poll(nullptr, 0, 2);  // a server does not report when it begins to listen
  }
}

void RedisServer::stop() {
  process_->stop();
  stopped_ = true;
}

void RedisServer::resume() {
  process_->resume();
  stopped_ = false;
}

void RedisServer::kill() {
  process_->signal(SIGKILL);
  process_->wait();
  stopped_ = false;
}

void RedisServer::shut_down() {
  process_->signal(SIGTERM);
  process_->wait();
}

void RedisServer::serve_again() {
  if (serves()) return;
  if (stopped_) {
    resume();
  } else {
    start();
  }
}

}  // namespace latchkey::tests
