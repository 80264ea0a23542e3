// A server that speaks as much of MongoDB's protocol as lies need.
#pragma once

#include <bson/bson.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "core/file_descriptor.hpp"
#include "support/servers/client_list.hpp"
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

/// Messages of MongoDB's wire protocol.
namespace mongodb_wire {

constexpr std::size_t head_size = 16;
constexpr std::int32_t reply = 1, query = 2004, message = 2013;

inline std::string number(std::int32_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
inline std::int32_t number_at(std::string_view bytes, std::size_t at) {
  std::int32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// A message of a client.
struct Command {
  std::int32_t id = 0;
  bool greets = false;  ///< libmongoc greets by OP_QUERY, and goes on with OP_MSG
  std::string name{};   ///< such as findAndModify
  std::string document{};
};

inline Command command_in(const std::string& bytes) {
  const bool greets = number_at(bytes, 12) == query;
  // OP_QUERY: flags, the collection's name, two numbers; OP_MSG: flags, the kind of the section.
  const std::size_t begin = greets ? bytes.find('\0', head_size + 4) + 1 + 8 : head_size + 5;
  const std::string document =
      bytes.substr(begin, static_cast<std::size_t>(number_at(bytes, begin)));
  return {number_at(bytes, 4), greets, document.c_str() + 5, document};  // its first field's name
}
/// The reply with this document.
inline std::string reply_to(const Command& command, const std::string& document) {
  const std::string body =
      (command.greets ? number(8) + std::string(12, '\0') + number(1) : std::string(5, '\0')) +
      document;
  return number(static_cast<std::int32_t>(head_size + body.size())) + number(1) +
         number(command.id) + number(command.greets ? reply : message) + body;
}

}  // namespace mongodb_wire

/// Serves the clients of a listening socket. One thread at a time.
class FakeMongo {
 public:
  using Command = mongodb_wire::Command;
  /// Returns the bytes to send when a command has arrived. Empty: close the connection.
  using Answer = std::function<std::optional<std::string>(const Command& command)>;

  FakeMongo(latchkey::detail::FileDescriptor listening, Answer answer)
      : answer_(std::move(answer)), clients_(std::move(listening)) {}

  /// Serves what has arrived, or arrives within `milliseconds`. False: nothing has.
  bool work(int milliseconds) {
    return clients_.work(milliseconds, [this](Client& client) { return serve(client); });
  }
  void hang_up() { clients_.hang_up(); }
  /// Sends bytes to every client.
  void say(const std::string& bytes) {
    for (const Client& each : clients_) Clients::write(each, bytes);
  }

 private:
  struct Client {
    latchkey::detail::FileDescriptor socket{};
    std::string received{};
  };
  using Clients = ClientList<Client>;

  bool serve(Client& client) {
    using namespace mongodb_wire;
    std::string& all = client.received;
    while (all.size() >= head_size && all.size() >= static_cast<std::size_t>(number_at(all, 0))) {
      const std::string one = all.substr(0, static_cast<std::size_t>(number_at(all, 0)));
      all.erase(0, one.size());
      const auto bytes = answer_(command_in(one));
      if (!bytes) return false;
      Clients::write(client, *bytes);
    }
    return true;
  }

  const Answer answer_;
  Clients clients_;
};

/// Listens on a free port of 127.0.0.1, and serves in a thread of its own.
class FakeMongoServer {
 public:
  /// The reply to the command of this name, in extended JSON. Empty: what a server says that has
  /// no documents.
  using Answer = std::function<std::string(std::string_view command)>;

  explicit FakeMongoServer(Answer answer) : FakeMongoServer(std::move(answer), listening()) {}

  [[nodiscard]] std::string uri() const {
    return "mongodb://127.0.0.1:" + std::to_string(port_) + "/locks";
  }
  static constexpr std::string_view hello =
      R"("isWritablePrimary": true, "ismaster": true, "maxBsonObjectSize": 16777216,
      "maxWriteBatchSize": 100000, "minWireVersion": 0, "maxWireVersion": 13, "ok": 1)";

 private:
  static latchkey::detail::FileDescriptor listening() {
    return latchkey::detail::FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  }
  FakeMongoServer(Answer answer, latchkey::detail::FileDescriptor socket)
      : port_(listen_on_loopback(socket.get())),
        server_(std::move(socket),
                [answer = std::move(answer)](const FakeMongo::Command& command) {
                  const std::string json = answer(command.name);
                  return mongodb_wire::reply_to(
                      command, bson_of(json.empty() ? honest(command.name) : json));
                }),
        thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) server_.work(10);
        }) {}

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

  const std::uint16_t port_;
  FakeMongo server_;
  std::jthread thread_;
};

}  // namespace latchkey::tests
