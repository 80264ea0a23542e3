// The cost of latchkey's locks on a Redis server, compared with hiredis used directly with the same
// scripts.
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "command_statistics.hpp"
#include "redis/protocol/script_call.hpp"
#include "redis_connection.hpp"
#include "redisson_scripts.hpp"
#include "side_by_side.hpp"
#include "support/servers/redis_server.hpp"

namespace {

using namespace std::chrono_literals;
using latchkey::LockType;
namespace bench = latchkey::bench;
namespace wire = latchkey::detail::redis;
using bench::BlockingConnection;
using latchkey::tests::RedisServer;

constexpr int most_threads = 128;
constexpr int server_core = 0, client_core = 1;

/// The two commands of a cycle, as hand-written code would send them: formatted once.
struct Cycle {
  explicit Cycle(int number) : key("key:" + std::to_string(number)) {
    latchkey::Request request;
    request.key = key;
    request.id = {{1, 2}, static_cast<std::uint64_t>(number) + 1};
    request.lease = 30s;
    append(latchkey::Verb::acquire, request, acquire, acquire_text);
    append(latchkey::Verb::release, request, release, release_text);
  }

  static void append(latchkey::Verb verb, latchkey::Request& request, std::string& digest,
                     std::string& text) {
    request.verb = verb;
    wire::CommandBuffer buffer;
    wire::append_evalsha(buffer, request, {});
    digest = buffer.bytes();
    buffer.clear();
    wire::append_eval(buffer, request, {});
    text = buffer.bytes();
  }

  std::string key, acquire, acquire_text, release, release_text;
};

/// Splits the operations among threads; `call(thread)` is one cycle of that thread.
template <class Call>
auto on_threads(int threads, Call call) {
  return [threads, call](int operations) {
    if (threads == 1) {
      for (int i = 0; i < operations; ++i) call(0);
      return;
    }
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([=] {
        for (int i = 0; i < operations / threads; ++i) call(thread);
      });
    }
    for (std::thread& thread : running) thread.join();
  };
}

class Contest {
 public:
  explicit Contest(const RedisServer& server)
      : locks_(latchkey::Locks::connect(server.tcp_uri())), pipelined_(server.port()) {
    for (int number = 0; number < most_threads; ++number) {
      cycles_.emplace_back(number);
      connections_.push_back(std::make_unique<BlockingConnection>(server.port()));
      handles_.push_back(locks_.lock(cycles_.back().key));
    }
    connections_[0]->expect_number(cycles_[0].acquire_text);  // the server knows the scripts now
    connections_[0]->expect_number(cycles_[0].release_text);
  }

  void ours(int thread) {
    static_cast<void>(handles_[static_cast<std::size_t>(thread)].try_acquire());
  }
  void theirs(int thread) {
    const auto index = static_cast<std::size_t>(thread);
    connections_[index]->expect_number(cycles_[index].acquire);
    connections_[index]->expect_number(cycles_[index].release);
  }
  /// One connection, 64 deep: 64 acquires, then their 64 releases.
  void pipelined(int operations) {
    constexpr int depth = 64;
    for (int done = 0; done < operations; done += depth) {
      for (const bool release : {false, true}) {
        for (std::size_t index = 0; index < depth; ++index) {
          pipelined_.send(release ? cycles_[index].release : cycles_[index].acquire);
        }
        for (int index = 0; index < depth; ++index) pipelined_.await_number();
      }
    }
  }

  bool threads_against_connections(int threads, int operations, double limit) {
    return bench::compare(
        fmt::format("{} thread{}, distinct keys", threads, threads == 1 ? "" : "s"), operations,
        limit, on_threads(threads, [this](int thread) { ours(thread); }),
        on_threads(threads, [this](int thread) { theirs(thread); }));
  }
  bool threads_against_pipeline(int threads, int operations, double limit) {
    return bench::compare(fmt::format("{} threads, beside a pipeline 64 deep", threads), operations,
                          limit, on_threads(threads, [this](int thread) { ours(thread); }),
                          [this](int count) { pipelined(count); });
  }

 private:
  latchkey::Locks locks_;
  std::vector<Cycle> cycles_;
  std::vector<std::unique_ptr<BlockingConnection>> connections_;
  std::vector<latchkey::Lock> handles_;
  BlockingConnection pipelined_;
};

/// Microseconds of server time for client commands since the last call.
double server_time(latchkey::tests::RedisClient& client) {
  const double spent = bench::statistics(client, "eval").microseconds +
                       bench::statistics(client, "evalsha").microseconds;
  client({"CONFIG", "RESETSTAT"});
  return spent;
}

bool server_time_per_pair(const RedisServer& server, Contest& contest) {
  constexpr int pairs = 5'000;
  auto client = server.client();
  const std::string lock = client({"SCRIPT", "LOAD", bench::redisson_lock}).text();
  const std::string unlock = client({"SCRIPT", "LOAD", bench::redisson_unlock}).text();
  std::vector<double> ratios;
  for (int round = 0; round < 5; ++round) {
    server_time(client);
    for (int pair = 0; pair < pairs; ++pair) contest.ours(0);
    const double ours = server_time(client);
    for (int pair = 0; pair < pairs; ++pair) {
      const std::string latch = "redisson_unlock_latch:{key:0}:" + std::to_string(pair);
      client({"EVALSHA", lock, "1", "key:0", "30000", "owner:1"});
      client({"EVALSHA", unlock, "3", "key:0", "redisson_lock__channel:{key:0}", latch, "0",
              "30000", "owner:1", "publish", "16000"});
      client({"DEL", latch});
    }
    ratios.push_back(ours / server_time(client));
  }
  constexpr double limit = 0.7;
  const double ratio = bench::median(ratios);
  fmt::print("{:<44} {:>8} {:>14}   {:>5.2f}  <= {:.2f} {}\n", "server time, beside Redisson's", "",
             "", ratio, limit, ratio <= limit ? "ok" : "MISSED");
  return ratio <= limit;
}

}  // namespace

int main() {
  bench::pin_to(server_core);
  const RedisServer server;
  bench::pin_to(client_core);
  Contest contest(server);

  // Rates of at least 0.95, 1.2 and 2 times the peer's equal times of at most 1.05, 0.83 and 0.5.
  fmt::print("{:<44} {:>11} {:>11}   {}\n", "", "latchkey", "by hand", "ratio (spread)");
  bool held = contest.threads_against_connections(1, 3'000, 1 / 0.95);
  held &= contest.threads_against_connections(2, 8'000, 1 / 0.95);
  held &= contest.threads_against_connections(4, 16'000, 1 / 0.95);
  held &= contest.threads_against_connections(8, 24'000, 1 / 1.2);
  held &= contest.threads_against_connections(16, 32'000, 1 / 0.95);
  held &= contest.threads_against_connections(32, 48'000, 1 / 2.0);
  held &= contest.threads_against_connections(64, 48'000, 1 / 0.95);
  held &= contest.threads_against_connections(128, 48'000, 1 / 0.95);
  held &= contest.threads_against_pipeline(32, 48'000, 1 / 0.8);
  held &= server_time_per_pair(server, contest);
  return held ? 0 : 1;
}
