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

#include <csignal>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>

#include "http_service/http.hpp"
#include "http_service/ledger.hpp"
#include "serve_options.hpp"

namespace asio = boost::asio;
using asio::ip::tcp;
using http::Answer;
using http::Client;

asio::awaitable<Answer> answer(Ledger& ledger, const http::Request& request) {
  const std::vector<std::string> words = request.words();
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
asio::awaitable<Answer> answer_or_error(Ledger& ledger, http::Request request) {
  std::string error;
  try {
    co_return co_await answer(ledger, request);
  } catch (const latchkey::LockTimeout& timeout) {
    error = timeout.what();
  } catch (const latchkey::Error& other) {
    co_return Answer{500, other.what()};
  } catch (const std::logic_error&) {
    co_return Answer{400, "an amount is a number"};
  }
  co_return Answer{503, error};
}

asio::awaitable<void> use(Client& client, int& transfers) {
  for (int round = 0; round < 20; ++round) {
    co_await client.ask("POST /deposit/alice/10");
    const Answer done = co_await client.ask("POST /transfer/alice/bob/4");
    if (done.status == 200) ++transfers;
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
  Answer alice, bob;
  const auto ask = [&]() -> asio::awaitable<void> {
    alice = co_await clients[0].ask("GET /balance/alice");
    bob = co_await clients[0].ask("GET /balance/bob");
    context.stop();
  };
  asio::co_spawn(context, ask(), asio::detached);
  context.restart();
  context.run();
  fmt::print("after {} transfers alice has {}, bob has {}\n", transfers, alice.text, bob.text);
  return transfers == 160 && bob.text == "640" && alice.text == "960";
}

int main(int count, char** arguments) {
  const auto [uri, port] = serve_options(count, arguments, "memory:");
  latchkey::install(latchkey::Locks::connect(uri));
  Ledger ledger;
  asio::io_context context(1);
  const tcp::endpoint here(asio::ip::address_v4::loopback(), port.value_or(0));
  tcp::acceptor acceptor(context, here);
  const http::Handler handler = [&](http::Request request) {
    return answer_or_error(ledger, std::move(request));
  };
  asio::co_spawn(context, http::accept(handler, acceptor), asio::detached);
  if (!port) return check(context, acceptor.local_endpoint()) ? 0 : 1;
  asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code&, int) { context.stop(); });
  context.run();
}
