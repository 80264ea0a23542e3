// Compares two implementations that are measured alternately in one run.
#pragma once

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <vector>

namespace latchkey::bench {

/// Pins the calling thread, and the threads that it starts from now on, to one processor.
inline void pin_to(int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

/// Allows all processors again.
inline void unpin() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) CPU_SET(processor, &all);
  pthread_setaffinity_np(pthread_self(), sizeof all, &all);
}

/// Nanoseconds per operation of `run(operations)`.
template <class Run>
double time_per_operation(int operations, Run&& run) {
  const auto start = std::chrono::steady_clock::now();
  run(operations);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / operations;
}

/// The header of the table that `compare` prints.
inline void print_header(std::string_view peer) {
  fmt::print("{:<44} {:>11} {:>11}   {}\n", "", "latchkey", peer, "ratio (spread)");
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The median over rounds of ours/peer; each round measures both. Prints one line of a table.
/// Returns true if the ratio is at most `limit`. `settle` is called before each measurement: what
/// one side has left to be done is not charged to the other. Use more `rounds` if the time includes
/// writes to disk: one round then says little.
template <class Ours, class Peer, class Settle = void (*)()>
bool compare(
    std::string_view what, int operations, double limit, Ours&& ours, Peer&& peer,
    Settle&& settle = [] {}, int rounds = 5) {
  std::vector<double> our_times, peer_times, ratios;
  ours(operations / 10);  // warm-up: fills pools and trains branch prediction
  peer(operations / 10);
  for (int round = 0; round < rounds; ++round) {
    settle();
    our_times.push_back(time_per_operation(operations, ours));
    settle();
    peer_times.push_back(time_per_operation(operations, peer));
    ratios.push_back(our_times.back() / peer_times.back());
  }
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  const bool held = median(ratios) <= limit;
  fmt::print("{:<44} {:>8.0f} ns {:>8.0f} ns   {:>5.2f} ({:.2f}-{:.2f})  <= {:.2f} {}\n", what,
             median(our_times), median(peer_times), median(ratios), *least, *most, limit,
             held ? "ok" : "MISSED");
  return held;
}

}  // namespace latchkey::bench
