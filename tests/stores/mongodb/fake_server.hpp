// A server that speaks as much of MongoDB's protocol as lies need.
#pragma once

#include <bson/bson.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/servers/loopback.hpp"

namespace latchkey::tests {

/// A document as the bytes of BSON, from extended JSON.
inline std::string bson_of(const std::string& json) {
  bson_error_t error{};
  bson_t* const made = ::bson_new_from_json(reinterpret_cast<const std::uint8_t*>(json.data()),
                                            static_cast<ssize_t>(json.size()), &error);
  if (made == nullptr) throw std::runtime_error(json + ": " + error.message);
  std::string bytes(reinterpret_cast<const char*>(::bson_get_data(made)), made->len);
  ::bson_destroy(made);
  return bytes;
}

/// Listens on a free port of 127.0.0.1, and serves in a thread of its own.
class FakeMongoServer {
 public:
  /// The reply to the command of this name, in extended JSON. Empty: what a server says that has
  /// no documents.
  using Answer = std::function<std::string(std::string_view command)>;

  explicit FakeMongoServer(Answer answer)
      : answer_(std::move(answer)), listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    port_ = listen_on_loopback(listening_);
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) serve();
    });
  }
  FakeMongoServer(const FakeMongoServer&) = delete;
  FakeMongoServer& operator=(const FakeMongoServer&) = delete;
  ~FakeMongoServer() {
    thread_.request_stop();
    thread_.join();
    for (const auto& [socket, received] : clients_) ::close(socket);
    ::close(listening_);
  }

  [[nodiscard]] std::string uri() const {
    return "mongodb://127.0.0.1:" + std::to_string(port_) + "/locks";
  }
  static constexpr std::string_view hello =
      R"("isWritablePrimary": true, "ismaster": true, "maxBsonObjectSize": 16777216,
      "maxWriteBatchSize": 100000, "minWireVersion": 0, "maxWireVersion": 13, "ok": 1)";

 private:
  static constexpr std::size_t head_size = 16;
  static constexpr std::int32_t reply = 1, query = 2004, message = 2013;

  static std::string number(std::int32_t value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  }
  static std::int32_t number_at(std::string_view bytes, std::size_t at) {
    std::int32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  }

  void serve() {
    std::vector<pollfd> wanted{{.fd = listening_, .events = POLLIN, .revents = 0}};
    for (const auto& [socket, received] : clients_) {
      wanted.push_back({.fd = socket, .events = POLLIN, .revents = 0});
    }
    if (::poll(wanted.data(), wanted.size(), 10) <= 0) return;
    for (std::size_t at = 1; at < wanted.size(); ++at) {
      if (wanted[at].revents != 0 && !read(wanted[at].fd)) {
        ::close(wanted[at].fd);
        clients_.erase(wanted[at].fd);
      }
    }
    if (wanted.front().revents == 0) return;
    const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket >= 0) clients_[socket];
  }
  bool read(int socket) {
    char part[16384];
    const ssize_t size = ::recv(socket, part, sizeof part, MSG_DONTWAIT);
    if (size <= 0) return false;
    std::string& all = clients_[socket];
    all.append(part, static_cast<std::size_t>(size));
    while (all.size() >= head_size && all.size() >= static_cast<std::size_t>(number_at(all, 0))) {
      const std::string one = all.substr(0, static_cast<std::size_t>(number_at(all, 0)));
      all.erase(0, one.size());
      const std::string bytes = reply_to(one);
      static_cast<void>(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    }
    return true;
  }
  /// libmongoc greets by OP_QUERY, and goes on with OP_MSG.
  std::string reply_to(const std::string& request) {
    const bool greets = number_at(request, 12) == query;
    // OP_QUERY: flags, the collection's name, two numbers; OP_MSG: flags, the kind of the section.
    const std::size_t begin = greets ? request.find('\0', head_size + 4) + 1 + 8 : head_size + 5;
    const std::string_view command(request.c_str() + begin + 5);  // the name of the first field
    std::string json = answer_(command);
    if (json.empty()) json = honest(command);
    const std::string body =
        (greets ? number(8) + std::string(12, '\0') + number(1) : std::string(5, '\0')) +
        bson_of(json);
    return number(static_cast<std::int32_t>(head_size + body.size())) + number(1) +
           number(number_at(request, 4)) + number(greets ? reply : message) + body;
  }
  static std::string honest(std::string_view command) {
    if (command == "find") {
      return R"({"cursor": {"id": {"$numberLong": "0"}, "ns": "l.l", "firstBatch": []}, "ok": 1})";
    }
    if (command == "findAndModify") return R"({"value": null, "ok": 1})";
    if (command == "delete") return R"({"n": 0, "ok": 1})";
    return R"({"localTime": {"$date": {"$numberLong": "1700000000000"}},
        "maxMessageSizeBytes": 48000000, )" +
           std::string(hello) + '}';
  }

  const Answer answer_;
  const int listening_;
  std::uint16_t port_ = 0;
  std::map<int, std::string> clients_;  ///< by the socket: what has been received
  std::jthread thread_;
};

}  // namespace latchkey::tests
