// Locks in etcd beside Go's concurrency.Mutex on the same server, in alternating rounds.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/etcd.hpp>
#include <latchkey/locks.hpp>

#include "stores/etcd/etcd_server.hpp"
#include "support/process.hpp"

namespace {

using namespace std::chrono_literals;
using latchkey::Lock;
using latchkey::Locks;
using Steady = std::chrono::steady_clock;

constexpr int rounds = 9;

struct Case {
  const char* name;
  const char* workload;
  int threads;
  bool less_is_better;
};
constexpr std::array cases{
    Case{"pairs/s, 1 thread", "pairs", 1, false},
    Case{"pairs/s, 8 threads on 8 keys", "pairs", 8, false},
    Case{"hand-off between two connections, us", "hand-off", 0, true},
    Case{"hand-off while a third one takes other locks, us", "hand-off", 1, true}};

double pairs(const std::string& uri, int threads, std::chrono::milliseconds length) {
  const Locks locks = Locks::connect(uri);
  std::atomic<long> done{0};
  const Steady::time_point end = Steady::now() + length;
  std::vector<std::jthread> running;
  for (int number = 0; number < threads; ++number) {
    running.emplace_back([&, number] {
      Lock lock = Locks(locks).lock("cpp:" + std::to_string(number));
      while (Steady::now() < end) {
        lock.lock();
        lock.unlock();
        ++done;
      }
    });
  }
  running.clear();
  return static_cast<double>(done) * 1000 / static_cast<double>(length.count());
}

/// From before the unlock of one to after the lock of the other: the median. Meanwhile `others`
/// connections take and release other locks.
double hand_off(const std::string& uri, int others, std::chrono::milliseconds length) {
  std::atomic<Steady::rep> released{0};
  std::mutex mutex;
  std::vector<Steady::rep> taken;
  const Steady::time_point end = Steady::now() + length;
  const auto take_turns = [&] {
    Lock lock = Locks::connect(uri).lock("cpp:hand-off");
    while (Steady::now() < end) {
      lock.lock();
      const Steady::rep now = Steady::now().time_since_epoch().count();
      if (const Steady::rep at = released.exchange(0); at != 0) {
        const std::scoped_lock guard(mutex);
        taken.push_back(now - at);
      }
      std::this_thread::sleep_for(5ms);  // until the other one waits
      released = Steady::now().time_since_epoch().count();
      lock.unlock();
    }
  };
  {
    std::vector<std::jthread> running;
    for (int number = 0; number < 2; ++number) running.emplace_back(take_turns);
    for (int number = 0; number < others; ++number) {
      running.emplace_back([&, number] {
        Lock lock = Locks::connect(uri).lock("cpp:other" + std::to_string(number));
        while (Steady::now() < end) {
          lock.lock();
          lock.unlock();
        }
      });
    }
  }
  if (taken.empty()) return 0;
  std::ranges::sort(taken);
  return static_cast<double>(taken[taken.size() / 2]) / 1000;
}

double of_latchkey(const std::string& address, const Case& what, std::chrono::milliseconds length) {
  const std::string uri = "etcd://" + address;
  return what.less_is_better ? hand_off(uri, what.threads, length)
                             : pairs(uri, what.threads, length);
}

double of_go(const std::string& peer, const std::string& log, const std::string& address,
             const Case& what, std::chrono::milliseconds length) {
  std::ofstream(log).flush();
  latchkey::tests::run({peer, address, what.workload, std::to_string(what.threads),
                        std::to_string(static_cast<double>(length.count()) / 1000)},
                       log);
  double result = 0;
  std::ifstream(log) >> result;
  return result;
}

}  // namespace

// bench_etcd [<seconds per measurement>]
int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::strtod(arguments[1], nullptr) : 2;
  const auto length = std::chrono::milliseconds(static_cast<long>(seconds * 1000));
  latchkey::register_etcd();
  const latchkey::tests::EtcdServer server;
  const std::string log = server.folder() / "peer.log";
  bool held = true;
  for (const Case& what : cases) {
    std::vector<double> ratios;
    for (int round = 1; round <= rounds; ++round) {
      const double own = of_latchkey(server.address(), what, length);
      const double other = of_go(LATCHKEY_ETCD_PEER, log, server.address(), what, length);
      ratios.push_back(what.less_is_better ? other / own : own / other);
      std::printf("%s: latchkey %.0f, Go %.0f, ratio %.2f\n", what.name, own, other, ratios.back());
      std::fflush(stdout);
    }
    std::ranges::sort(ratios);
    const double median = ratios[ratios.size() / 2];
    std::printf("%s: median ratio %.2f  >= 1.00 %s\n\n", what.name, median,
                median >= 1 ? "ok" : "MISSED");
    held &= median >= 1;
  }
  return held ? 0 : 1;
}
