// Starts and stops a ZooKeeper server.
#include "zookeeper_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace latchkey::tests {
namespace {

constexpr const char* jars = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-nop.jar";
constexpr std::chrono::seconds patience{60};

int connect_to(std::uint16_t port) {
  const int link = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(link, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return link;
  ::close(link);
  return -1;
}

}  // namespace

std::uint16_t free_zookeeper_port() {
  static unsigned next = std::random_device{}();
  for (;;) {
    const auto port = static_cast<std::uint16_t>(12'000 + next++ % 20'000);
    const int taken = connect_to(port);
    if (taken < 0) return port;
    ::close(taken);
  }
}

namespace {

std::filesystem::path fresh_folder() {
  const bool memory = ::access("/dev/shm", W_OK) == 0;
  std::string name =
      (memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) /
      "latchkey-zookeeper-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  return name;
}

}  // namespace

std::string ZooKeeperServer::why_missing() {
  if (::access("/usr/bin/java", X_OK) != 0) return "there is no /usr/bin/java";
  if (::access("/usr/share/java/zookeeper.jar", R_OK) != 0)
    return "there is no /usr/share/java/zookeeper.jar; install zookeeper";
  return {};
}

// Never destroyed: the server ends with the thread that started it, the one that runs the tests.
ZooKeeperServer& ZooKeeperServer::shared() {
  static auto* const server = new ZooKeeperServer;
  return *server;
}

ZooKeeperServer::ZooKeeperServer(std::chrono::milliseconds container_check)
    : folder_(fresh_folder()), port_(free_zookeeper_port()), container_check_(container_check) {
  configure({});
  start();
}

ZooKeeperServer::ZooKeeperServer(int number, const std::string& members)
    : folder_(fresh_folder()),
      port_(free_zookeeper_port()),
      program_("org.apache.zookeeper.server.quorum.QuorumPeerMain") {
  std::filesystem::create_directory(folder_ / "data");
  std::ofstream(folder_ / "data" / "myid") << number << '\n';
  configure("initLimit=40\nsyncLimit=20\n" + members);
  launch();
}

void ZooKeeperServer::configure(const std::string& members) {
  std::ofstream(folder_ / "zoo.cfg") << "tickTime=250\nminSessionTimeout=500\n"
                                        "maxSessionTimeout=20000\ndataDir="
                                     << (folder_ / "data").string() << "\nclientPort=" << port_
                                     << "\nclientPortAddress=127.0.0.1\nmaxClientCnxns=0\n"
                                        "admin.enableServer=false\n4lw.commands.whitelist=*\n"
                                     << members;
}

ZooKeeperServer::~ZooKeeperServer() {
  process_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void ZooKeeperServer::start() {
  launch();
  try {
    await();
  } catch (...) {
    process_.reset();
    throw;
  }
}

void ZooKeeperServer::launch() {
  process_ = std::make_unique<Process>(
      std::vector<std::string>{
          "/usr/bin/java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
          "-Dznode.container.checkIntervalMs=" + std::to_string(container_check_.count()),
          "-Dzookeeper.forceSync=no", "-cp", jars, program_, folder_ / "zoo.cfg"},
      folder_ / "log");
}

void ZooKeeperServer::await() const {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (ask("srvr").find("Mode:") == std::string::npos) {
    if (process_->ended() || std::chrono::steady_clock::now() >= end) {
      std::ostringstream log;
      log << "ZooKeeper does not answer; its log:\n" << std::ifstream(folder_ / "log").rdbuf();
      throw std::runtime_error(log.str());
    }
    ::poll(nullptr, 0, 20);  // a server does not report when it begins to listen
  }
}

void ZooKeeperServer::kill() {
  process_->signal(SIGKILL);
  process_->wait();
}

std::string ZooKeeperServer::ask(const std::string& word) const {
  const int link = connect_to(port_);
  if (link < 0) return {};
  const timeval second{.tv_sec = 1, .tv_usec = 0};  // a server that begins may never reply
  ::setsockopt(link, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
  std::string reply;
  if (::send(link, word.data(), word.size(), MSG_NOSIGNAL) > 0) {
    std::array<char, 4096> part{};
    for (ssize_t size = 0; (size = ::recv(link, part.data(), part.size(), 0)) > 0;) {
      reply.append(part.data(), static_cast<std::size_t>(size));
    }
  }
  ::close(link);
  return reply;
}

int ZooKeeperServer::nodes() const {
  constexpr std::string_view before = "Node count: ";
  const std::string reply = ask("srvr");
  return std::atoi(reply.c_str() + reply.find(before) + before.size());
}

}  // namespace latchkey::tests
