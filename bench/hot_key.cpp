// One key that several processes want at the same time, compared with Redisson's command sequence
// on hiredis.
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "redisson_by_hand.hpp"
#include "side_by_side.hpp"
#include "support/servers/redis_server.hpp"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using latchkey::LockType;
using latchkey::tests::RedisServer;
namespace bench = latchkey::bench;

constexpr int server_core = 0, client_core = 1;
constexpr auto window = 1s;
constexpr const char* key = "hot";

/// The work of one process in the window.
struct Work {
  std::uint64_t grants = 0;
  std::chrono::nanoseconds longest_wait{};
};

/// How many processes of how many threads, and how long each holds the lock.
struct Load {
  int processes;
  int threads;
  std::chrono::microseconds inside;
};

void spend(std::chrono::microseconds time) {
  if (time.count() == 0) return;
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
  }
}

/// One thread locks and unlocks until the window ends.
template <class Lock>
Work work_until(Clock::time_point end, std::chrono::microseconds inside, Lock& lock) {
  Work work;
  for (Clock::time_point asked = Clock::now(); asked < end; asked = Clock::now()) {
    lock.lock();
    work.longest_wait = std::max<std::chrono::nanoseconds>(work.longest_wait, Clock::now() - asked);
    ++work.grants;
    spend(inside);
    lock.unlock();
  }
  return work;
}

/// `make(thread)` is the lock of one thread. The window begins when `start` says so.
template <class Make, class Start>
Work run_threads(const Load& load, Make make, Start start) {
  std::vector<Work> works(static_cast<std::size_t>(load.threads));
  std::vector<std::thread> threads;
  std::latch ready(load.threads);
  std::atomic<Clock::rep> end{0};
  for (std::size_t thread = 0; thread < works.size(); ++thread) {
    threads.emplace_back([&, thread] {
      auto lock = make(thread);
      ready.count_down();
      end.wait(0);
      works[thread] = work_until(Clock::time_point(Clock::duration(end)), load.inside, *lock);
    });
  }
  ready.wait();
  start();
  end = (Clock::now() + window).time_since_epoch().count();
  end.notify_all();
  Work sum;
  for (std::size_t thread = 0; thread < works.size(); ++thread) {
    threads[thread].join();
    sum.grants += works[thread].grants;
    sum.longest_wait = std::max(sum.longest_wait, works[thread].longest_wait);
  }
  return sum;
}

using Run = Work (*)(const RedisServer&, const Load&, int process, void (*start)());

Work run_latchkey(const RedisServer& server, const Load& load, int /*process*/, void (*start)()) {
  latchkey::Locks locks = latchkey::Locks::connect(server.tcp_uri());
  const auto make = [&](std::size_t) { return std::make_unique<latchkey::Lock>(locks.lock(key)); };
  return run_threads(load, make, start);
}

Work run_redisson_by_hand(const RedisServer& server, const Load& load, int process,
                          void (*start)()) {
  bench::RedissonChannel channel(server.port(), "redisson_lock__channel:{hot}");
  const auto make = [&](std::size_t thread) {
    return std::make_unique<bench::RedissonByHand>(
        server.port(), key, fmt::format("process-{}:{}", process, thread), channel);
  };
  return run_threads(load, make, start);
}

/// The ends for the child: it says that it is ready, and the parent starts all at once.
int ready_pipe = -1, start_pipe = -1;
void await_start() {
  char byte = 'r';
  if (::write(ready_pipe, &byte, 1) != 1 || ::read(start_pipe, &byte, 1) != 1) std::abort();
}

/// Runs the load in processes of its own.
std::vector<Work> run_processes(Run run, const RedisServer& server, const Load& load) {
  std::array<std::array<int, 2>, 3> pipes{};
  for (auto& each : pipes) {
    if (::pipe(each.data()) != 0) throw std::runtime_error("no pipe");
  }
  const auto& [ready, go, results] = pipes;
  std::vector<pid_t> children;
  for (int process = 0; process < load.processes; ++process) {
    const pid_t child = ::fork();
    if (child == -1) throw std::runtime_error("no process");
    if (child == 0) {
      ready_pipe = ready[1];
      start_pipe = go[0];
      const Work work = run(server, load, process, await_start);
      const bool told = ::write(results[1], &work, sizeof work) == sizeof work;
      ::_exit(told ? 0 : 1);
    }
    children.push_back(child);
  }
  for (std::size_t child = 0; child < children.size(); ++child) {
    char byte;
    if (::read(ready[0], &byte, 1) != 1) throw std::runtime_error("no process");
  }
  const std::string bytes(children.size(), 'g');
  if (::write(go[1], bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    throw std::runtime_error("no start");
  }
  std::vector<Work> works(children.size());
  for (Work& work : works) {
    if (::read(results[0], &work, sizeof work) != sizeof work)
      throw std::runtime_error("no result");
  }
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  for (const auto& each : pipes) {
    for (const int end : each) ::close(end);
  }
  return works;
}

struct Summary {
  double rate = 0;     ///< grants per second, of all processes
  double share = 0;    ///< grants of the slowest process, as a part of the fastest's
  double longest = 0;  ///< wait, in ms
};

Summary summary_of(const std::vector<Work>& works) {
  Summary summary;
  double least = 1e18, most = 0;
  for (const Work& work : works) {
    const auto grants = static_cast<double>(work.grants);
    summary.rate += grants;
    least = std::min(least, grants);
    most = std::max(most, grants);
    summary.longest = std::max(
        summary.longest, std::chrono::duration<double, std::milli>(work.longest_wait).count());
  }
  summary.share = most > 0 ? least / most : 0;
  return summary;
}

double median_of(const std::vector<Summary>& rounds, double Summary::* value) {
  std::vector<double> values;
  for (const Summary& round : rounds) values.push_back(round.*value);
  return bench::median(values);
}

struct Limits {
  double ratio;        ///< at least this multiple of the peer's rate
  double wait = 0;     ///< the longest wait, at most this multiple of the peer's; 0: no limit
  double used = 0;     ///< at least this part of the time is spent inside; 0: no limit
  double share = 0.5;  ///< grants of the slowest process, at least this part of the fastest's
};

/// Prints one line.
bool compare(const RedisServer& server, const Load& load, const Limits& limits) {
  constexpr int rounds = 5;
  std::vector<Summary> ours, theirs;
  std::vector<double> ratios, waits;
  for (int round = 0; round < rounds; ++round) {
    ours.push_back(summary_of(run_processes(run_latchkey, server, load)));
    theirs.push_back(summary_of(run_processes(run_redisson_by_hand, server, load)));
    ratios.push_back(ours.back().rate / theirs.back().rate);
    waits.push_back(ours.back().longest / theirs.back().longest);
  }
  const double ratio = bench::median(ratios), wait = bench::median(waits);
  const double share = median_of(ours, &Summary::share), rate = median_of(ours, &Summary::rate);
  const double used = rate * std::chrono::duration<double>(load.inside).count();
  const bool held = ratio >= limits.ratio && (limits.wait == 0 || wait <= limits.wait) &&
                    used >= limits.used && share >= limits.share;
  const auto limit = [](std::string_view relation, double value) {
    return value == 0 ? std::string() : fmt::format(" {} {:.2f}", relation, value);
  };
  const auto name = fmt::format("{} x {} threads, {} us inside", load.processes, load.threads,
                                load.inside.count());
  fmt::print(
      "{:<30} {:>9.0f} {:>9.0f} {:>7.1f} >= {:<4.1f} {:>8.2f} >= {:.1f} {:>8.2f} {:>9.1f} "
      "{:>6.2f}{:<8} {:>5.2f}{:<8}  {}\n",
      name, rate, median_of(theirs, &Summary::rate), ratio, limits.ratio, share, limits.share,
      median_of(theirs, &Summary::share), median_of(ours, &Summary::longest), wait,
      limit("<=", limits.wait), used, limit(">=", limits.used), held ? "ok" : "MISSED");
  std::fflush(stdout);
  return held;
}

}  // namespace

int main() {
  bench::pin_to(server_core);
  const RedisServer server;
  bench::pin_to(client_core);
  fmt::print("{:<30} {:>9} {:>9} {:>15} {:>15} {:>8} {:>9} {:>6}{:8} {:>5}\n",
             "grants per s, by Redisson's", "latchkey", "by hand", "ratio", "slowest share",
             "by hand", "wait, ms", "ratio", "", "used");
  bool held = compare(server, {1, 8, 0us}, {.ratio = 10});
  held &= compare(server, {2, 4, 0us}, {.ratio = 10, .wait = 0.25});
  held &= compare(server, {2, 4, 50us}, {.ratio = 1, .wait = 0.25, .used = 0.85});
  held &= compare(server, {4, 4, 0us}, {.ratio = 5});
  // Without fairness the process that releases takes the lock again at once, which is faster.
  held &= compare(server, {4, 1, 0us}, {.ratio = 0.4});
  return held ? 0 : 1;
}
