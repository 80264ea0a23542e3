// A small HTTP service of coroutines on one thread. Its methods are decorated: two requests for one
// account never run at the same time, also if they reach two processes, and nobody blocks.
//
//   POST /deposit/alice/10      POST /transfer/alice/bob/5      GET /balance/alice
//
// Started with --serve PORT it serves until it is interrupted. Otherwise it serves on a free port,
// asks itself a few hundred times over several connections, and checks the sums: 0 if they are
// right. Locks live in this process ("memory:") unless you pass a URI.
#include <latchkey/asio.hpp>
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "http_service/ledger.hpp"

namespace asio = boost::asio;
using asio::ip::tcp;

struct Answer {
  int status = 200;
  std::string text{};
};

/// "/deposit/alice/10": three words.
std::vector<std::string> words_of(std::string_view target) {
  std::vector<std::string> words;
  while (!target.empty()) {
    target.remove_prefix(1);
    const std::size_t end = std::min(target.find('/'), target.size());
    words.emplace_back(target.substr(0, end));
    target.remove_prefix(end);
  }
  return words;
}

asio::awaitable<Answer> answer(Ledger& ledger, std::string target) {
  const std::vector<std::string> words = words_of(target);
  if (words.size() == 3 && words[0] == "deposit") {
    const int balance = co_await ledger.deposit(words[1], std::stoi(words[2]));
    co_return Answer{200, std::to_string(balance)};
  }
  if (words.size() == 4 && words[0] == "transfer") {
    const bool done = co_await ledger.transfer(words[1], words[2], std::stoi(words[3]));
    co_return Answer{done ? 200 : 409, done ? "done" : "not enough"};
  }
  if (words.size() == 2 && words[0] == "balance") {
    const std::optional<int> balance = co_await ledger.balance(words[1]);
    if (!balance) co_return Answer{503, "busy"};
    co_return Answer{200, std::to_string(*balance)};
  }
  co_return Answer{404, "no such page"};
}

/// Answers a request, also after an error. A lost lock is an error of the server: the sums that it
/// protected may be wrong.
asio::awaitable<Answer> answer_or_error(Ledger& ledger, std::string target) {
  std::string error;
  try {
    co_return co_await answer(ledger, std::move(target));
  } catch (const latchkey::LockTimeout& timeout) {
    error = timeout.what();
  } catch (const latchkey::Error& other) {
    co_return Answer{500, other.what()};
  } catch (const std::logic_error&) {
    co_return Answer{400, "an amount is a number"};
  }
  co_return Answer{503, error};
}

/// One connection: request after request, until the client closes it.
asio::awaitable<void> serve(Ledger& ledger, tcp::socket socket) {
  std::string input;
  while (true) {
    const std::size_t size = co_await asio::async_read_until(socket, asio::dynamic_buffer(input),
                                                             "\r\n\r\n", asio::use_awaitable);
    const std::size_t begin = input.find(' ') + 1;
    std::string target = input.substr(begin, input.find(' ', begin) - begin);
    input.erase(0, size);
    const Answer given = co_await answer_or_error(ledger, std::move(target));
    const std::string reply = fmt::format("HTTP/1.1 {} -\r\nContent-Length: {}\r\n\r\n{}",
                                          given.status, given.text.size(), given.text);
    co_await asio::async_write(socket, asio::buffer(reply), asio::use_awaitable);
  }
}

asio::awaitable<void> accept(Ledger& ledger, tcp::acceptor& acceptor) {
  while (true) {
    tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
    const asio::any_io_executor executor = socket.get_executor();
    asio::co_spawn(executor, serve(ledger, std::move(socket)), asio::detached);
  }
}

/// A client with one connection.
class Client {
 public:
  Client(asio::io_context& context, tcp::endpoint service) : socket_(context) {
    socket_.connect(service);
  }

  /// The text of the answer; empty unless the status is 200.
  asio::awaitable<std::string> ask(std::string target) {
    const std::string request = "GET " + target + " HTTP/1.1\r\n\r\n";
    co_await asio::async_write(socket_, asio::buffer(request), asio::use_awaitable);
    const std::size_t head = co_await asio::async_read_until(socket_, asio::dynamic_buffer(input_),
                                                             "\r\n\r\n", asio::use_awaitable);
    const bool good = input_.compare(9, 3, "200") == 0;
    const std::size_t length = std::stoul(input_.substr(input_.find(": ") + 2));
    while (input_.size() < head + length) {
      char more[256];
      const std::size_t size =
          co_await socket_.async_read_some(asio::buffer(more), asio::use_awaitable);
      input_.append(more, size);
    }
    std::string text = good ? input_.substr(head, length) : std::string();
    input_.erase(0, head + length);
    co_return text;
  }

 private:
  tcp::socket socket_;
  std::string input_;
};

asio::awaitable<void> use(Client& client, int& transfers) {
  for (int round = 0; round < 20; ++round) {
    co_await client.ask("/deposit/alice/10");
    const std::string done = co_await client.ask("/transfer/alice/bob/4");
    if (done == "done") ++transfers;
  }
}

/// Eight clients at once, and then the sums.
bool check(asio::io_context& context, tcp::endpoint service) {
  std::vector<Client> clients;
  for (int number = 0; number < 8; ++number) clients.emplace_back(context, service);
  int transfers = 0;
  int left = static_cast<int>(clients.size());
  for (Client& client : clients) {
    asio::co_spawn(context, use(client, transfers), [&](const std::exception_ptr&) {
      if (--left == 0) context.stop();
    });
  }
  context.run();
  std::string alice, bob;
  const auto ask = [&]() -> asio::awaitable<void> {
    alice = co_await clients[0].ask("/balance/alice");
    bob = co_await clients[0].ask("/balance/bob");
    context.stop();
  };
  asio::co_spawn(context, ask(), asio::detached);
  context.restart();
  context.run();
  fmt::print("after {} transfers alice has {}, bob has {}\n", transfers, alice, bob);
  return transfers == 160 && bob == "640" && alice == "960";
}

int main(int count, char** arguments) {
  std::string uri = "memory:";
  std::optional<unsigned short> port;
  for (int index = 1; index < count; ++index) {
    if (std::string_view(arguments[index]) == "--serve" && index + 1 < count) {
      port = static_cast<unsigned short>(std::stoi(arguments[++index]));
    } else {
      uri = arguments[index];
    }
  }
  latchkey::install(latchkey::Locks::connect(uri));
  Ledger ledger;
  asio::io_context context(1);
  const tcp::endpoint here(asio::ip::address_v4::loopback(), port.value_or(0));
  tcp::acceptor acceptor(context, here);
  asio::co_spawn(context, accept(ledger, acceptor), asio::detached);
  if (!port) return check(context, acceptor.local_endpoint()) ? 0 : 1;
  asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code&, int) { context.stop(); });
  context.run();
}
