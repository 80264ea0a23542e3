// Locks in MongoDB, compared with ShedLock's statements sent by hand over the same connections.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/latchkey.hpp>
#include <latchkey/mongodb.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ferretdb_server.hpp"
#include "side_by_side.hpp"
#include "stores/mongodb/commands.hpp"

namespace {

using namespace std::chrono_literals;
using namespace latchkey::detail::mongodb;
namespace bench = latchkey::bench;
using Steady = std::chrono::steady_clock;
using latchkey::tests::Shell;

/// The commands of ShedLock's MongoLockProvider: the times are the client's.
class ShedLockByHand {
 public:
  explicit ShedLockByHand(const std::string& uri) : shell_(uri) {}

  bool lock(const std::string& name) {
    const Date now = clock();
    const Bson fields =
        doc("lockUntil", Date{now.milliseconds + 30'000}, "lockedAt", now, "lockedBy", "host");
    return Commands(*shell_)
        .modify_or_insert(doc("_id", name, "lockUntil", doc("$lte", now)), doc("$set", fields))
        .after.has_value();
  }
  void unlock(const std::string& name) {
    Commands(*shell_).modify(doc("_id", name), doc("$set", doc("lockUntil", clock())));
  }

 private:
  static Date clock() {
    using std::chrono::milliseconds;
    return {std::chrono::duration_cast<milliseconds>(
                std::chrono::system_clock::now().time_since_epoch())
                .count()};
  }

  Shell shell_;
};

/// Splits the operations among threads; `call(thread)` is one pair of that thread.
template <class Call>
auto on_threads(int threads, Call call) {
  return [threads, call](int operations) {
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([=] {
        for (int i = 0; i < std::max(1, operations / threads); ++i) call(thread);
      });
    }
    for (std::thread& thread : running) thread.join();
  };
}

/// One holds for a while, the other waits: the mean time from the release to the grant, in ns.
/// `hold()` acquires and returns a function that releases; `wait()` acquires and releases.
template <class Hold, class Wait>
double hand_off(int times, Hold hold, Wait wait) {
  double sum = 0;
  for (int i = 0; i < times; ++i) {
    auto release = hold();
    Steady::time_point granted;
    std::thread waiter([&] { granted = wait(); });
    std::this_thread::sleep_for(20ms + i * 17ms);
    const Steady::time_point released = Steady::now();
    release();
    waiter.join();
    sum += std::chrono::duration<double, std::nano>(granted - released).count();
  }
  return sum / times;
}

void pairs(const std::string& uri) {
  const latchkey::Locks locks = latchkey::Locks::connect(uri);
  ShedLockByHand peer(uri + "?schema=shedlock");
  for (const auto& [threads, operations] : {std::pair{1, 400}, std::pair{8, 800}}) {
    const auto key = [](int thread) { return "bench " + std::to_string(thread); };
    bench::compare(fmt::format("{} thread(s), each with its key", threads), operations, 1.0,
                   on_threads(threads,
                              [&](int thread) {
                                latchkey::Lock lock = locks.lock(key(thread));
                                lock.acquire(latchkey::forever).release();
                              }),
                   on_threads(threads, [&](int thread) {
                     if (!peer.lock(key(thread))) throw std::runtime_error("ShedLock: busy");
                     peer.unlock(key(thread));
                   }));
  }
}

void hand_offs(const std::string& uri) {
  const latchkey::Locks one = latchkey::Locks::connect(uri), other = latchkey::Locks::connect(uri);
  ShedLockByHand first(uri + "?schema=shedlock"), second(uri + "?schema=shedlock");
  std::vector<double> ours, peers, ratios;
  for (int round = 0; round < 5; ++round) {
    ours.push_back(hand_off(
        20,
        [&] {
          auto hold = std::make_shared<latchkey::Hold>(one.lock("turn").acquire(latchkey::forever));
          return [hold] { hold->release(); };
        },
        [&] {
          const latchkey::Hold hold = other.lock("turn").acquire(10s);
          return Steady::now();
        }));
    peers.push_back(hand_off(
        20,
        [&] {
          while (!first.lock("turn")) std::this_thread::yield();
          return [&] { first.unlock("turn"); };
        },
        [&] {
          // ShedLock does not wait. This is what lock registries do: 100 ms between two attempts.
          while (!second.lock("turn")) std::this_thread::sleep_for(100ms);
          const Steady::time_point granted = Steady::now();
          second.unlock("turn");
          return granted;
        }));
    ratios.push_back(ours.back() / peers.back());
  }
  fmt::print("{:<44} {:>8.0f} us {:>8.0f} us   {:>5.2f}\n", "hand-off between two connections",
             bench::median(ours) / 1'000, bench::median(peers) / 1'000, bench::median(ratios));
}

}  // namespace

int main() {
  latchkey::register_mongodb();
  const latchkey::tests::FerretServer server;
  bench::print_header("ShedLock");
  pairs(server.uri());
  hand_offs(server.uri());
}
