// Starts and stops FerretDB.
// SPDX-License-Identifier: BSL-1.0
#include "ferretdb_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <latchkey/mongodb.hpp>

#include "backend/registry.hpp"
#include "stores/mongodb/commands.hpp"
#include "stores/mongodb/failure.hpp"

namespace latchkey::tests {
namespace {

constexpr std::chrono::seconds patience{30};

std::filesystem::path fresh_folder() {
  const bool memory = ::access("/dev/shm", W_OK) == 0;
  std::string name = memory ? "/dev/shm" : std::filesystem::temp_directory_path().string();
  name += "/latchkey-mongodb-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  return name;
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

/// Outside the kernel's range of client ports.
std::uint16_t free_port() {
  static std::atomic<unsigned> next = std::random_device{}();
  constexpr unsigned lowest = 12'000, highest = 32'000;
  for (unsigned look = lowest; look < highest; ++look) {
    const auto port = static_cast<std::uint16_t>(lowest + next++ % (highest - lowest));
    if (is_free(port)) return port;
  }
  throw std::runtime_error("no free port on 127.0.0.1");
}

std::string program() {
#ifdef LATCHKEY_FERRETDB
  return LATCHKEY_FERRETDB;
#else
  return {};
#endif
}

}  // namespace

std::string no_ferretdb() {
  if (::access(program().c_str(), X_OK) == 0) return {};
  return "there is no MongoDB server: Go, which builds FerretDB, was not found";
}

FerretServer::FerretServer() : folder_(fresh_folder()) {
  if (!no_ferretdb().empty()) throw std::runtime_error(no_ferretdb());
  port_ = free_port();
  start();
}

FerretServer::~FerretServer() {
  process_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string FerretServer::uri(const std::string& options) const {
  return "mongodb://127.0.0.1:" + std::to_string(port_) + "/locks" + options;
}

bool FerretServer::answers() const {
  try {
    Shell shell(uri());
    static_cast<void>(detail::mongodb::Commands(*shell).now());
    return true;
  } catch (const detail::mongodb::NoAnswer&) {
    return false;
  }
}

void FerretServer::start() {
  const std::vector<std::string> words{program(), "127.0.0.1:" + std::to_string(port_), folder_};
  process_ = std::make_unique<Process>(words, folder_ / "log");
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!answers()) {
    if (process_->ended() || std::chrono::steady_clock::now() >= end) {
      std::ostringstream log;
      log << "FerretDB does not answer; its log:\n" << std::ifstream(folder_ / "log").rdbuf();
      throw std::runtime_error(log.str());
    }
    ::poll(nullptr, 0, 5);  // a server does not report when it begins to listen
  }
}

void FerretServer::stop() { process_->stop(); }

void FerretServer::resume() { process_->resume(); }

void FerretServer::kill() {
  process_->signal(SIGKILL);
  process_->wait();
}

FerretServer& shared_ferretdb() {
  static FerretServer running;
  return running;
}

std::string next_key(const std::string& shape) {
  static std::atomic<int> last{0};
  return shape + std::to_string(++last);
}

std::unique_ptr<Backend> connect_mongodb(const std::string& uri, const Options& options) {
  register_mongodb();
  return detail::find_backend_factory("mongodb")(uri, options);
}

Shell::Shell(const std::string& uri)
    : pool_(detail::mongodb::parse_uri(uri, std::chrono::seconds(2))) {}

std::size_t Shell::count() {
  return detail::mongodb::Commands(pool_).find_all(detail::mongodb::Bson()).size();
}

}  // namespace latchkey::tests
