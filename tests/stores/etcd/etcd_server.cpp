// Starts and stops an etcd server.
#include "etcd_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>

namespace latchkey::tests {
namespace {

constexpr int attempts = 5;
constexpr std::chrono::seconds patience{30};

std::string program(const char* variable, const char* name) {
  const char* const named = std::getenv(variable);
  return named != nullptr ? named : name;
}

}  // namespace

std::filesystem::path fresh_etcd_folder() {
  const bool memory = ::access("/dev/shm", W_OK) == 0;
  const std::filesystem::path parent =
      memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
  std::string name = parent / "latchkey-etcd-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  return name;
}

namespace {

bool bind_to(int probe, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

std::uint16_t free_etcd_port() {
  static std::atomic<unsigned> next = std::random_device{}();
  constexpr unsigned lowest = 12'000, count = 20'000;
  for (unsigned look = 0; look < count; ++look) {
    const auto port = static_cast<std::uint16_t>(lowest + next++ % count);
    const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool bound = bind_to(probe, port);
    ::close(probe);
    if (bound) return port;
  }
  throw std::runtime_error("no free port on 127.0.0.1");
}

namespace {

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

EtcdServer::EtcdServer(Tls tls) : folder_(fresh_etcd_folder()) {
  if (tls == Tls::on) certificates_.emplace(folder_, "IP:127.0.0.1,DNS:localhost");
  for (int attempt = 1;; ++attempt) {
    port_ = free_etcd_port();
    peer_port_ = free_etcd_port();
    try {
      start();
      break;
    } catch (const std::runtime_error&) {
      std::filesystem::remove_all(folder_ / "data");
      if (attempt == attempts) {
        std::filesystem::remove_all(folder_);
        throw;
      }
    }
  }
}

EtcdServer::~EtcdServer() {
  process_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string EtcdServer::uri(const std::string& options) const {
  return "etcd://" + address() + (options.empty() ? "" : "/?" + options);
}

std::vector<std::string> EtcdServer::ctl_words(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words{"env", "ETCDCTL_API=3", program("LATCHKEY_ETCDCTL", "etcdctl"),
                                 "--endpoints=" + address()};
  if (certificates_) {
    words.insert(words.end(),
                 {"--cacert=" + certificates_->authority, "--cert=" + certificates_->client,
                  "--key=" + certificates_->client_key});
  }
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

std::string EtcdServer::ctl(const std::vector<std::string>& arguments, int* status) const {
  static std::atomic<int> last{0};
  const std::filesystem::path log = folder_ / ("ctl" + std::to_string(++last));
  Process process(ctl_words(arguments), log);
  const int code = process.wait();
  std::string text = content(log);
  std::filesystem::remove(log);
  if (status != nullptr) {
    *status = code;
  } else if (code != 0) {
    throw std::runtime_error("etcdctl failed: " + text);
  }
  return text;
}

std::vector<std::string> EtcdServer::keys(const std::string& prefix) const {
  std::istringstream lines(ctl({"get", "--prefix", "--keys-only", prefix}));
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) found.push_back(line);
  }
  return found;
}

void EtcdServer::start(const std::vector<std::string>& more) {
  const std::string client = (certificates_ ? "https://" : "http://") + address();
  const std::string peer = "http://127.0.0.1:" + std::to_string(peer_port_);
  std::vector<std::string> words{program("LATCHKEY_ETCD", "etcd"),
                                 "--data-dir",
                                 folder_ / "data",
                                 "--listen-client-urls",
                                 client,
                                 "--advertise-client-urls",
                                 client,
                                 "--listen-peer-urls",
                                 peer,
                                 "--initial-advertise-peer-urls",
                                 peer,
                                 "--initial-cluster",
                                 "default=" + peer,
                                 "--log-level",
                                 "error",
                                 "--heartbeat-interval",
                                 "50",
                                 "--election-timeout",
                                 "500"};
  if (certificates_) {
    words.insert(words.end(),
                 {"--cert-file", certificates_->server, "--key-file", certificates_->server_key,
                  "--client-cert-auth", "--trusted-ca-file", certificates_->authority});
  }
  words.insert(words.end(), more.begin(), more.end());
  process_ = std::make_unique<Process>(words, folder_ / "log");
  try {
    await();
  } catch (...) {
    process_.reset();
    throw;
  }
}

void EtcdServer::await() const {
  const auto end = std::chrono::steady_clock::now() + patience;
  const std::vector<std::string> health{"endpoint", "health", "--command-timeout=1s"};
  for (;;) {
    int code = 0;
    ctl(health, &code);
    if (code == 0) return;
    if (process_->ended() || std::chrono::steady_clock::now() >= end) {
      throw std::runtime_error("etcd does not serve; its log:\n" + content(folder_ / "log"));
    }
    ::poll(nullptr, 0, 10);  // a server does not report when it begins to serve
  }
}

void EtcdServer::stop() { process_->stop(); }

void EtcdServer::resume() { process_->resume(); }

void EtcdServer::kill() {
  process_->signal(SIGKILL);
  process_->wait();
}

}  // namespace latchkey::tests
