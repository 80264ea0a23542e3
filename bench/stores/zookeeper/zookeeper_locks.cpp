// latchkey beside Curator's InterProcessMutex: pairs of acquire and release, and hand-offs.
// SPDX-License-Identifier: BSL-1.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/zookeeper.hpp>

#include "interop/java_peer.hpp"
#include "stores/zookeeper/zookeeper_server.hpp"

namespace {

using namespace latchkey;
using namespace std::chrono_literals;
using latchkey::tests::JavaPeer;
using latchkey::tests::ZooKeeperServer;
using Steady = std::chrono::steady_clock;

constexpr int rounds = 5;
constexpr auto length = 1500ms;
constexpr int swaps = 1500;

Locks connect(const ZooKeeperServer& server) {
  Options options;
  options.watchdog = 10s;
  return Locks::connect(server.uri("/bench"), options);
}

double seconds(Steady::duration time) { return std::chrono::duration<double>(time).count(); }

double our_pairs(const Locks& locks, int threads) {
  std::vector<std::future<double>> all;
  for (int thread = 0; thread < threads; ++thread) {
    all.push_back(std::async(std::launch::async, [&, thread] {
      Lock lock = locks.lock("ours" + std::to_string(thread));
      double pairs = 0;
      for (const auto end = Steady::now() + length; Steady::now() < end; ++pairs) {
        const Hold hold = lock.acquire(10s);
      }
      return pairs / seconds(length);
    }));
  }
  double sum = 0;
  for (auto& each : all) sum += each.get();
  return sum;
}

double their_pairs(JavaPeer& peer, int threads) {
  std::vector<std::future<std::string>> all;
  for (int thread = 0; thread < threads; ++thread) {
    const std::string name = std::to_string(thread);
    all.push_back(peer.start(
        name, "pairs plain /bench/theirs" + name + " " + std::to_string(length.count())));
  }
  double sum = 0;
  for (auto& each : all) sum += std::stod(each.get()) / seconds(length);
  return sum;
}

/// Two connections take one lock in turn. Hand-offs in a second.
double our_swaps(const Locks& one, const Locks& other) {
  const auto begin = Steady::now();
  std::vector<std::thread> both;
  for (const Locks* const locks : {&one, &other}) {
    both.emplace_back([locks] {
      Lock lock = locks->lock("swapped");
      for (int swap = 0; swap < swaps; ++swap) const Hold hold = lock.acquire(10s);
    });
  }
  for (std::thread& each : both) each.join();
  return 2 * swaps / seconds(Steady::now() - begin);
}

double their_swaps(JavaPeer& one, JavaPeer& other) {
  const auto begin = Steady::now();
  std::vector<std::future<std::string>> both;
  for (JavaPeer* const peer : {&one, &other}) {
    both.push_back(peer->start("0", "swap plain /bench/swapped " + std::to_string(swaps)));
  }
  for (auto& each : both) each.get();
  return 2 * swaps / seconds(Steady::now() - begin);
}

/// False: latchkey is slower than the peer.
template <class Ours, class Theirs>
bool compare(std::string_view what, Ours&& ours, Theirs&& theirs) {
  ours();  // warms up, as does the next one its compiler
  theirs();
  theirs();
  std::array<double, rounds> mine{}, peer{}, ratio{};
  for (std::size_t round = 0; round < rounds; ++round) {
    mine[round] = ours();
    peer[round] = theirs();
    ratio[round] = mine[round] / peer[round];
  }
  for (auto* const values : {&mine, &peer, &ratio}) std::ranges::sort(*values);
  const bool held = ratio[rounds / 2] >= 1;
  fmt::print("{:<36} {:>9.0f}/s {:>9.0f}/s   {:.2f} ({:.2f}-{:.2f})  >= 1.00 {}\n", what,
             mine[rounds / 2], peer[rounds / 2], ratio[rounds / 2], ratio.front(), ratio.back(),
             held ? "ok" : "MISSED");
  return held;
}

}  // namespace

int main() {
  if (std::system(LATCHKEY_CURATOR_SCRIPT " " LATCHKEY_CURATOR_JARS) != 0) return 1;
  ::setenv("LATCHKEY_INTEROP_CLASSPATH", LATCHKEY_CURATOR_JARS "/*", 1);
  ::setenv("LATCHKEY_INTEROP_PEER", LATCHKEY_CURATOR_PEER, 1);
  register_zookeeper();
  const ZooKeeperServer server;
  const Locks one = connect(server), other = connect(server);
  JavaPeer peer(server.address(), 10s), second(server.address(), 10s);
  fmt::print("{:<36} {:>11} {:>11}   ratio (spread)\n", "", "latchkey", "Curator");
  bool held = compare(
      "pairs, 1 thread", [&] { return our_pairs(one, 1); }, [&] { return their_pairs(peer, 1); });
  held &= compare(
      "pairs, 8 threads on 8 keys", [&] { return our_pairs(one, 8); },
      [&] { return their_pairs(peer, 8); });
  held &= compare(
      "hand-offs between two connections", [&] { return our_swaps(one, other); },
      [&] { return their_swaps(peer, second); });
  return held ? 0 : 1;
}
