// A server that speaks as much of HTTP/2 and gRPC as a client of etcd needs, and lies need.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "core/file_descriptor.hpp"
#include "support/servers/client_list.hpp"
#include "support/servers/loopback.hpp"

namespace latchkey::tests {

/// Frames of HTTP/2 (RFC 9113) with what gRPC puts into them.
namespace etcd_wire {

constexpr char data = 0, headers = 1, reset = 3, settings = 4, ping = 6, goaway = 7;
constexpr char end_stream = 1, end_headers = 4, acknowledges = 1;

inline std::string number(std::uint64_t value, unsigned bytes) {
  std::string text;
  for (unsigned at = bytes; at > 0; --at) text += static_cast<char>(value >> (8 * (at - 1)) & 255U);
  return text;
}
inline std::string frame(char type, char flags, std::uint32_t stream, std::string_view content) {
  return number(content.size(), 3) + type + flags + number(stream, 4) + std::string(content);
}
/// A header of HPACK, as a literal (RFC 7541, section 6.2.2).
inline std::string header(std::string_view name, std::string_view value) {
  return number(0, 1) + number(name.size(), 1) + std::string(name) +
         number(value.size() & 127U, 1) + std::string(value.substr(0, value.size() & 127U));
}
/// Before the first message of a call.
inline std::string head(std::uint32_t stream) {
  return frame(headers, end_headers, stream, '\x88' + header("content-type", "application/grpc"));
}
inline std::string message(std::uint32_t stream, std::string_view content) {
  return frame(data, 0, stream, number(content.size(), 5) + std::string(content));
}
inline std::string trailer(std::uint32_t stream, std::string_view status = "0") {
  return frame(headers, end_headers | end_stream, stream,
               header("grpc-status", status) + header("grpc-message", "no%20reason"));
}

}  // namespace etcd_wire

/// Listens on a free port of 127.0.0.1. One thread at a time.
class FakeEtcd {
 public:
  struct Call {
    std::uint32_t stream = 0;
    std::string path;
    bool is_first = false;  ///< whether the message is the call's first
    std::string message{};  ///< with its prefix
  };
  /// Returns the bytes to send when a message of a call has arrived. Empty: close the connection.
  using Answer = std::function<std::optional<std::string>(const Call& call)>;

  explicit FakeEtcd(Answer answer)
      : answer_(std::move(answer)), port_(listen_on_loopback(clients_.listening())) {}

  [[nodiscard]] std::string uri() const { return "etcd://127.0.0.1:" + std::to_string(port_); }

  /// Serves what has arrived, or arrives within `milliseconds`. False: nothing has.
  bool work(int milliseconds) {
    return clients_.work(
        milliseconds, [this](Client& client) { return serve(client); },
        [](const Client& client) {
          const int yes = 1;
          ::setsockopt(client.socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        });
  }
  void hang_up() { clients_.hang_up(); }
  /// Sends bytes to every client, with the stream of its last call that has not ended.
  void say(const std::function<std::string(std::uint32_t stream)>& words) {
    for (const Client& each : clients_) {
      Clients::write(each, words(each.calls.empty() ? 1 : each.calls.rbegin()->first));
    }
  }

 private:
  struct Inflater {
    Inflater() {
      if (::nghttp2_hd_inflate_new(&made) != 0) throw std::bad_alloc();
    }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;
    ~Inflater() { ::nghttp2_hd_inflate_del(made); }
    nghttp2_hd_inflater* made = nullptr;
  };
  struct Client {
    latchkey::detail::FileDescriptor socket{};
    std::string received{};
    bool greeted = false;
    Inflater inflater{};
    std::map<std::uint32_t, Call> calls{};
  };

  using Clients = ClientList<Client>;

  bool serve(Client& client) {
    std::string& all = client.received;
    if (!client.greeted) {
      constexpr std::size_t preface_size = 24;
      if (all.size() < preface_size) return true;
      all.erase(0, preface_size);
      client.greeted = true;
      Clients::write(client, etcd_wire::frame(etcd_wire::settings, 0, 0, {}));
    }
    const auto number_at = [&](std::size_t at, std::size_t bytes) {
      std::size_t value = 0;
      for (const char byte : all.substr(at, bytes))
        value = value << 8U | static_cast<unsigned char>(byte);
      return value;
    };
    constexpr std::size_t head_size = 9;
    while (all.size() >= head_size && all.size() >= head_size + number_at(0, 3)) {
      const std::string content = all.substr(head_size, number_at(0, 3));
      const char type = all[3], flags = all[4];
      const auto stream = static_cast<std::uint32_t>(number_at(5, 4));
      all.erase(0, head_size + content.size());
      if (!on_frame(client, type, flags, stream, content)) return false;
    }
    return true;
  }
  bool on_frame(Client& client, char type, char flags, std::uint32_t stream,
                const std::string& content) {
    namespace wire = etcd_wire;
    if (type == wire::settings && (flags & wire::acknowledges) == 0) {
      Clients::write(client, wire::frame(wire::settings, wire::acknowledges, 0, {}));
    } else if (type == wire::ping && (flags & wire::acknowledges) == 0) {
      Clients::write(client, wire::frame(wire::ping, wire::acknowledges, 0, content));
    } else if (type == wire::headers) {
      client.calls[stream] = {stream, path_in(client, content), true, {}};
    } else if (type == wire::reset) {
      client.calls.erase(stream);
    } else if (const auto call = client.calls.find(stream);
               type == wire::data && !content.empty() && call != client.calls.end()) {
      call->second.message = content;
      const auto answer = answer_(call->second);
      call->second.is_first = false;
      if ((flags & wire::end_stream) != 0) client.calls.erase(call);
      if (!answer) return false;
      Clients::write(client, *answer);
    }
    return true;
  }
  static std::string path_in(Client& client, const std::string& content) {
    std::string path;
    const auto* at = reinterpret_cast<const std::uint8_t*>(content.data());
    std::size_t left = content.size();
    for (;;) {
      nghttp2_nv found;
      int flags = 0;
      const ssize_t read =
          ::nghttp2_hd_inflate_hd2(client.inflater.made, &found, &flags, at, left, 1);
      if (read < 0) return path;
      at += read;
      left -= static_cast<std::size_t>(read);
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0 &&
          std::string_view(reinterpret_cast<const char*>(found.name), found.namelen) == ":path") {
        path.assign(reinterpret_cast<const char*>(found.value), found.valuelen);
      }
      if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) {
        ::nghttp2_hd_inflate_end_headers(client.inflater.made);
        return path;
      }
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0 && left == 0) return path;
    }
  }

  const Answer answer_;
  Clients clients_{
      latchkey::detail::FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  const std::uint16_t port_;
};

}  // namespace latchkey::tests
