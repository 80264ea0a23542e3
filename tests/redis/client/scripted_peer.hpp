// A Redis server whose replies the test decides.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "redis/session/command_parser.hpp"

namespace latchkey::inline v1::testing {

/// Listens on its own Unix socket and serves one connection after the other. It replies to the
/// handshake as Redis does, and to every other command with the result of `answer`. `send_as` sets
/// how the bytes are split.
class ScriptedPeer {
 public:
  /// Returns the reply to a command. An empty optional closes the connection instead.
  using Answer = std::function<std::optional<std::string>(const Command&)>;
  enum class SendAs : std::uint8_t { it_is, single_bytes, random_pieces };

  explicit ScriptedPeer(Answer answer, SendAs send_as = SendAs::it_is)
      : answer_(std::move(answer)), send_as_(send_as) {
    listen_on_unix();
    thread_ = std::thread([this] { run(); });
  }
  /// On a free port of 127.0.0.1.
  struct OnPort {};
  ScriptedPeer(OnPort, Answer answer) : answer_(std::move(answer)), send_as_(SendAs::it_is) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, any, size) != 0 || ::listen(listener_, 8) != 0 ||
        ::getsockname(listener_, any, &size) != 0) {
      throw std::runtime_error("no port for the peer");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ScriptedPeer(const ScriptedPeer&) = delete;
  ScriptedPeer& operator=(const ScriptedPeer&) = delete;
  ~ScriptedPeer() {
    ending_ = true;
    thread_.join();
    ::close(listener_);
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] std::string uri() const { return "redis+unix://" + path(); }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int connections() const { return connections_; }
  /// Sends bytes that answer no command. Only while it serves a connection.
  void say(std::string_view bytes) {
    const int connection = serving_;
    if (::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error("the peer serves no connection");
    }
  }

 private:
  void listen_on_unix() {
    std::string folder = std::filesystem::temp_directory_path() / "latchkey-peer-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = folder;
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_, 8) != 0) {
      throw std::runtime_error("no socket for the peer");
    }
  }

 public:
  /// Returns Redis' reply to the handshake, to PING and to subscriptions; ":0" to all else.
  static std::string proper(const Command& command) {
    if (command[0] == "HELLO") {
      const std::string both = hello_answer(3, "run");
      return both.substr(0, both.find('='));
    }
    if (command[0] == "INFO") {
      const std::string both = hello_answer(3, "run");
      return both.substr(both.find('='));
    }
    if (command[0] == "PING") return "+PONG\r\n";
    if (command[0] != "SUBSCRIBE" && command[0] != "UNSUBSCRIBE") return ":0\r\n";
    std::string pushes;
    for (std::size_t index = 1; index < command.size(); ++index) {
      const bool joins = command[0] == "SUBSCRIBE";
      pushes += push(joins ? "subscribe" : "unsubscribe", command[index], 1);
    }
    return pushes;
  }
  static bool is_script(const Command& command) { return command[0].starts_with("EVAL"); }

 private:
  [[nodiscard]] std::string path() const { return folder_ / "socket"; }

  bool readable(int socket) const {
    pollfd polled{.fd = socket, .events = POLLIN, .revents = 0};
    while (!ending_) {
      if (::poll(&polled, 1, 10) > 0) return true;
    }
    return false;
  }

  void run() {
    while (readable(listener_)) {
      const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) continue;
      ++connections_;
      serving_ = connection;
      serve(connection);
      serving_ = -1;
      ::close(connection);
    }
  }

  void serve(int connection) {
    CommandParser parser;
    char bytes[4096];
    while (readable(connection)) {
      const auto got = ::recv(connection, bytes, sizeof bytes, 0);
      if (got <= 0) return;
      parser.feed({bytes, static_cast<std::size_t>(got)});
      std::string answers;
      bool ends = false;
      while (auto command = parser.next()) {
        const auto answer = answer_(*command);
        ends = !answer;
        if (ends) break;
        answers += *answer;
      }
      if (!send(connection, answers) || ends) return;
    }
  }

  bool send(int connection, std::string_view bytes) {
    while (!bytes.empty()) {
      std::size_t size = bytes.size();
      if (send_as_ == SendAs::single_bytes) size = 1;
      if (send_as_ == SendAs::random_pieces) size = 1 + chance_() % bytes.size();
      if (::send(connection, bytes.data(), size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) {
        return false;
      }
      bytes.remove_prefix(size);
      if (send_as_ == SendAs::random_pieces && chance_() % 4 == 0) std::this_thread::yield();
    }
    return true;
  }

  const Answer answer_;
  const SendAs send_as_;
  std::filesystem::path folder_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> ending_ = false;
  std::atomic<int> connections_ = 0;
  std::atomic<int> serving_ = -1;
  std::minstd_rand chance_{1};
  std::thread thread_;
};

}  // namespace latchkey::inline v1::testing
