// An HTTP/2 proxy in front of etcd, as nginx or a cloud's balancer is one, with its own will.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace latchkey::tests {

/// A frame of HTTP/2 (RFC 9113, section 4.1).
struct Http2Frame {
  enum Type : std::uint8_t {
    data = 0,
    headers = 1,
    reset = 3,
    settings = 4,
    goaway = 7,
    window = 8
  };
  static constexpr std::size_t head_size = 9;
  static constexpr std::uint8_t end_stream = 1, end_headers = 4;

  std::string bytes;  ///< with its head

  [[nodiscard]] static Http2Frame make(Type type, std::uint8_t flags, std::uint32_t stream,
                                       std::string_view content);
  /// An answer that consists of an error of HTTP.
  [[nodiscard]] static Http2Frame error(std::uint32_t stream, std::string_view status);
  /// `last`: the last stream that is answered.
  [[nodiscard]] static Http2Frame goaway_after(std::uint32_t last);
  /// Ends a stream that nobody reads any more.
  [[nodiscard]] static Http2Frame cancel(std::uint32_t stream);
  /// The other side may send so many more bytes on this connection.
  [[nodiscard]] static Http2Frame window_update(std::uint32_t size);
  /// A setting: the other side remembers no header fields of earlier frames.
  [[nodiscard]] static std::string no_header_table();

  [[nodiscard]] std::uint8_t type() const noexcept { return static_cast<std::uint8_t>(bytes[3]); }
  [[nodiscard]] bool is_acknowledgement() const noexcept { return (bytes[4] & 1) != 0; }
  [[nodiscard]] std::uint32_t stream() const noexcept;
  [[nodiscard]] std::string_view content() const noexcept {
    return std::string_view(bytes).substr(head_size);
  }
};

/// Listens on a free port of 127.0.0.1 and forwards the frames of each connection to the port of
/// etcd and back, as rules say, which are called on one thread.
class Http2Proxy {
 public:
  struct Answer {
    std::string to_server, to_client;
  };
  /// Returns the bytes to send to each side when `frame` has arrived.
  using Rule = std::function<Answer(const Http2Frame& frame)>;
  struct Rules {
    Rule from_client, from_server;
  };

  /// `make_rules` is called for each connection.
  Http2Proxy(std::uint16_t server_port, std::function<Rules()> make_rules);
  /// All connections have the same rules.
  Http2Proxy(std::uint16_t server_port, Rule from_client, Rule from_server);
  Http2Proxy(const Http2Proxy&) = delete;
  Http2Proxy& operator=(const Http2Proxy&) = delete;
  ~Http2Proxy();

  [[nodiscard]] static Answer forward_to_server(const Http2Frame& frame) {
    return {frame.bytes, {}};
  }
  [[nodiscard]] static Answer forward_to_client(const Http2Frame& frame) {
    return {{}, frame.bytes};
  }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::string uri(const std::string& options) const {
    return "etcd://127.0.0.1:" + std::to_string(port_) + "/?" + options;
  }

 private:
  struct Connection {
    int client, server;
    Rules rules;
    std::string from_client, from_server;  ///< frames that have not arrived as a whole
    bool greeted = false;
  };

  void run(const std::stop_token& stop);
  void accept_one();
  /// False: the connection has ended.
  bool forward(Connection& connection, int from, std::string& arrived, const Rule& rule);

  const std::uint16_t server_port_;
  const std::function<Rules()> make_rules_;
  int listening_ = -1;
  std::uint16_t port_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::jthread thread_;
};

}  // namespace latchkey::tests
