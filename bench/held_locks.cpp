// The cost of keeping 10 000 locks: the watchdog renews them all.
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "command_statistics.hpp"
#include "side_by_side.hpp"
#include "support/servers/redis_server.hpp"

namespace {

using namespace std::chrono_literals;
using latchkey::LockType;
using latchkey::tests::RedisClient;
using latchkey::tests::RedisServer;
namespace bench = latchkey::bench;

constexpr int server_core = 0, client_core = 1;
constexpr int locks_held = 10'000;
constexpr auto watchdog = 30s, interval = watchdog / 3;
constexpr int intervals = 3;  ///< that are measured

/// The processor time of this process.
std::chrono::duration<double> processor_time() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return std::chrono::duration<double>(seconds(used.ru_utime) + seconds(used.ru_stime));
}

bool report(std::string_view what, double value, double limit) {
  const bool held = value <= limit;
  fmt::print("{:<44} {:>11.5f}   <= {:.5f} {}\n", what, value, limit, held ? "ok" : "MISSED");
  return held;
}

/// The locks are taken evenly over one interval, as those of a service that has run for a while.
std::vector<latchkey::Hold> take_all(const latchkey::Locks& locks) {
  std::vector<latchkey::Hold> holds;
  holds.reserve(locks_held);
  const auto begin = std::chrono::steady_clock::now();
  for (int number = 0; number < locks_held; ++number) {
    std::this_thread::sleep_until(begin + interval * number / locks_held);
    const LockType type = number % 4 == 0 ? LockType::READ : LockType::REENTRANT;
    holds.push_back(locks.lock("order:" + std::to_string(number), type).acquire(latchkey::forever));
  }
  return holds;
}

}  // namespace

int main() {
  bench::pin_to(server_core);
  const RedisServer server;
  bench::pin_to(client_core);
  RedisClient client = server.client();
  latchkey::Options options;
  options.watchdog = watchdog;
  const latchkey::Locks locks = latchkey::Locks::connect(server.tcp_uri(), options);
  const std::vector<latchkey::Hold> holds = take_all(locks);
  std::this_thread::sleep_for(interval);  // each was renewed once
  client({"CONFIG", "RESETSTAT"});
  const auto spent = processor_time();
  std::this_thread::sleep_for(intervals * interval);
  const double used = (processor_time() - spent) / (intervals * interval);
  const bench::CommandStatistics scripts = bench::statistics(client, "evalsha");
  const double renewals = bench::statistics(client, "hexists").calls;  // one in each

  fmt::print("{} locks, watchdog {} s, {:.0f} renewals by {:.0f} scripts in {} s\n", locks_held,
             watchdog.count(), renewals, scripts.calls, (intervals * interval).count());
  bool held = report("processor time of the client, of one core", used, 0.01);
  held &= report("scripts per renewal", scripts.calls / renewals, 1 / 100.0);
  held &= report("server time per script, ms", scripts.microseconds / scripts.calls / 1'000, 1);
  for (const latchkey::Hold& each : holds) held &= !each.lost();
  held &= renewals >= locks_held * intervals;
  return held ? 0 : 1;
}
