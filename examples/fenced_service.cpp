// A small HTTP service that keeps orders for clients that lock them. Each PUT of an order brings
// the fence of its lock, and a client that has lost its lock is refused:
//
//   PUT /orders/42/paid    with the header    Latchkey-Fence: order:42/FENCED/1764352651000000
//   GET /orders/42         with the same header: from now on no earlier holder can write
//   GET /orders/42         without it: for everybody
//   PUT /drafts/42/text    needs no lock: the last writer wins
//
//   | status | when                                                              |
//   |--------|-------------------------------------------------------------------|
//   | 400    | the fence is of another order, or no fence at all                 |
//   | 412    | a later holder has been here: acquire the lock anew               |
//   | 428    | the header is missing                                             |
//
// Started with --serve PORT it prints its port, and serves until it is interrupted; 0 is a free
// port. Otherwise it serves on a free port, and asks itself as two clients of which one has lost
// its lock: 0 if that one is refused. Their locks live in this process unless you pass a URI.
#include <latchkey/fence.hpp>
#include <latchkey/fences/seen_fences.hpp>
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>

#include "http_service/http.hpp"
#include "serve_options.hpp"

namespace asio = boost::asio;
using asio::ip::tcp;
using http::Answer;
using latchkey::LockType;
using namespace std::chrono_literals;

constexpr std::string_view fence_header = "Latchkey-Fence";

/// The orders, in memory. One thread uses it, so nothing comes between a check and its write.
class Orders {
 public:
  Answer answer(const http::Request& request) {
    const std::vector<std::string> words = request.words();
    if (words.size() < 2 || (words[0] != "orders" && words[0] != "drafts")) {
      return {404, "no such page"};
    }
    std::string& text = texts_[words[0] + '/' + words[1]];
    const bool writes = request.method != "GET";
    if (words[0] == "orders" && (writes || request.header(fence_header))) {
      const Answer refusal = refuse_late(request, "order:" + words[1]);
      if (refusal.status != 200) return refusal;
    }
    if (!writes) return {200, text};
    text = words.size() > 2 ? words[2] : std::string();
    return {200, text};
  }

 private:
  /// Checks the fence of the request. 200: it may write.
  Answer refuse_late(const http::Request& request, const std::string& key) {
    const std::optional<std::string> fence = request.header(fence_header);
    if (!fence) return {428, "send the header Latchkey-Fence, with the fence of " + key};
    try {
      latchkey::check_fence(*fence, key, seen_);
      return {};
    } catch (const latchkey::FenceRejected& late) {
      return {412, late.what()};
    } catch (const latchkey::FenceError& wrong) {
      return {400, wrong.what()};
    }
  }

  latchkey::SeenFences seen_;
  std::map<std::string, std::string> texts_;
};

/// A client: locks of its own, and a connection.
class Client {
 public:
  Client(asio::io_context& context, tcp::endpoint service, const std::string& uri)
      : context_(context), http_(context, service), locks_(latchkey::Locks::connect(uri)) {}

  latchkey::Hold acquire(std::chrono::milliseconds lease) {
    return locks_.lock("order:42", LockType::FENCED).acquire(10s, lease);
  }
  Answer put(const std::string& target, const std::optional<latchkey::Fence>& fence) {
    return ask("PUT " + target, fence ? "Latchkey-Fence: " + fence->text() + "\r\n" : "");
  }
  Answer ask(const std::string& request, const std::string& headers = {}) {
    Answer answer;
    std::exception_ptr failure;
    const auto run = [&]() -> asio::awaitable<void> {
      answer = co_await http_.ask(request, headers);
    };
    asio::co_spawn(context_, run(), [&](const std::exception_ptr& error) {
      failure = error;
      context_.stop();
    });
    context_.restart();
    context_.run();
    if (failure) std::rethrow_exception(failure);
    fmt::print("{} -> {} {}\n", request, answer.status, answer.text);
    return answer;
  }

 private:
  asio::io_context& context_;
  http::Client http_;
  latchkey::Locks locks_;
};

/// Two clients. The lease of the first one ends before it has finished.
bool check(asio::io_context& context, tcp::endpoint service, const std::string& uri) {
  Client first(context, service, uri), second(context, service, uri);
  const latchkey::Hold lost = first.acquire(200ms);
  bool good = first.put("/orders/42/paid", lost.fence()).status == 200;
  const latchkey::Hold hold = second.acquire(30s);  // when the lease of the first one has ended
  good = good && second.put("/orders/42/shipped", hold.fence()).status == 200;
  good = good && first.put("/orders/42/cancelled", lost.fence()).status == 412;
  good = good && first.put("/orders/42/cancelled", std::nullopt).status == 428;
  good = good && second.put("/orders/7/paid", hold.fence()).status == 400;
  return good && second.ask("GET /orders/42").text == "shipped";
}

int main(int count, char** arguments) {
  const auto [uri, port] = serve_options(count, arguments, "memory:orders");
  Orders orders;
  const http::Handler handler = [&](http::Request request) -> asio::awaitable<Answer> {
    co_return orders.answer(request);
  };
  asio::io_context context(1);
  const tcp::endpoint here(asio::ip::address_v4::loopback(), port.value_or(0));
  tcp::acceptor acceptor(context, here);
  asio::co_spawn(context, http::accept(handler, acceptor), asio::detached);
  if (!port) return check(context, acceptor.local_endpoint(), uri) ? 0 : 1;
  fmt::print("{}\n", acceptor.local_endpoint().port());
  std::fflush(stdout);
  asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code&, int) { context.stop(); });
  context.run();
}
