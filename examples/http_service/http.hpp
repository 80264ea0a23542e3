// As much of HTTP as the examples need, in coroutines: a server and a client with one connection.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/algorithm/string/predicate.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace http {

namespace asio = boost::asio;
using asio::ip::tcp;

/// A request without a body.
struct Request {
  std::string method, target;
  std::string head;  ///< all lines

  /// "/deposit/alice/10": three words.
  [[nodiscard]] std::vector<std::string> words() const {
    std::vector<std::string> words;
    std::string_view rest = target;
    while (!rest.empty()) {
      rest.remove_prefix(1);
      const std::size_t end = std::min(rest.find('/'), rest.size());
      words.emplace_back(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    return words;
  }

  /// The value of a header; empty: there is none.
  [[nodiscard]] std::optional<std::string> header(std::string_view name) const {
    std::size_t begin = head.find("\r\n");
    while (begin != std::string::npos) {
      const std::size_t end = head.find("\r\n", begin + 2);
      const std::string_view line = std::string_view(head).substr(begin + 2, end - begin - 2);
      const std::size_t colon = line.find(':');
      if (colon != std::string_view::npos && boost::iequals(line.substr(0, colon), name)) {
        const std::size_t value = line.find_first_not_of(" \t", colon + 1);
        return std::string(line.substr(std::min(value, line.size())));
      }
      begin = end;
    }
    return std::nullopt;
  }
};

struct Answer {
  int status = 200;
  std::string text{};
};

/// Answers one request.
using Handler = std::function<asio::awaitable<Answer>(Request)>;

/// One connection: request after request, until the client closes it.
inline asio::awaitable<void> serve(const Handler& handler, tcp::socket socket) {
  std::string input;
  while (true) {
    const std::size_t size = co_await asio::async_read_until(socket, asio::dynamic_buffer(input),
                                                             "\r\n\r\n", asio::use_awaitable);
    const std::size_t method = input.find(' ');
    const std::size_t target = input.find(' ', method + 1);
    Request request{input.substr(0, method), input.substr(method + 1, target - method - 1),
                    input.substr(0, size - 2)};
    input.erase(0, size);
    const Answer given = co_await handler(std::move(request));
    const std::string reply = fmt::format("HTTP/1.1 {} -\r\nContent-Length: {}\r\n\r\n{}",
                                          given.status, given.text.size(), given.text);
    co_await asio::async_write(socket, asio::buffer(reply), asio::use_awaitable);
  }
}

inline asio::awaitable<void> accept(const Handler& handler, tcp::acceptor& acceptor) {
  while (true) {
    tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
    const asio::any_io_executor executor = socket.get_executor();
    asio::co_spawn(executor, serve(handler, std::move(socket)), asio::detached);
  }
}

/// A client with one connection.
class Client {
 public:
  Client(asio::io_context& context, tcp::endpoint service) : socket_(context) {
    socket_.connect(service);
  }

  /// `request`: method and target, such as "GET /balance/alice". `headers`: lines, each with its
  /// "\r\n".
  asio::awaitable<Answer> ask(std::string request, std::string headers = {}) {
    const std::string lines = request + " HTTP/1.1\r\n" + headers + "\r\n";
    co_await asio::async_write(socket_, asio::buffer(lines), asio::use_awaitable);
    const std::size_t head = co_await asio::async_read_until(socket_, asio::dynamic_buffer(input_),
                                                             "\r\n\r\n", asio::use_awaitable);
    Answer answer{std::stoi(input_.substr(9, 3))};
    const std::size_t length = std::stoul(input_.substr(input_.find(": ") + 2));
    while (input_.size() < head + length) {
      char more[256];
      const std::size_t size =
          co_await socket_.async_read_some(asio::buffer(more), asio::use_awaitable);
      input_.append(more, size);
    }
    answer.text = input_.substr(head, length);
    input_.erase(0, head + length);
    co_return answer;
  }

 private:
  tcp::socket socket_;
  std::string input_;
};

}  // namespace http
