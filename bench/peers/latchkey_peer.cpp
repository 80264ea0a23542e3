// The worker of latchkey: does the workloads that lines on standard input describe.
//
// README.md beside this file describes the lines, which the workers in Java and Go understand too.
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <latch>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "histogram.hpp"
#include "words.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;
using latchkey::LockType;
using latchkey::bench::Histogram;
using latchkey::bench::number;
using latchkey::bench::Words;
using latchkey::bench::words_of;

struct Workload {
  explicit Workload(const Words& words)
      : own_keys(words.at("--workload") == "own"),
        type(latchkey::parse_lock_type(words.at("--type")).value()),
        threads(static_cast<std::size_t>(number(words.at("--threads")))),
        inside(std::chrono::microseconds(number(words.at("--inside-us")))),
        warm_up(std::chrono::milliseconds(number(words.at("--warm-up-ms")))),
        measured(std::chrono::milliseconds(number(words.at("--measure-ms")))),
        key(words.at("--key")) {
    if (const auto found = words.find("--trace"); found != words.end()) trace = found->second;
  }

  bool own_keys;
  LockType type;
  std::size_t threads;
  Nanoseconds inside, warm_up, measured;
  std::string key;
  std::string trace{};  ///< the file for the times of each critical section; empty: none
};

/// The work of one thread.
struct Work {
  std::uint64_t pairs = 0, grants = 0;
  Nanoseconds waited{}, longest{};
  Histogram waits;
  std::vector<std::pair<Clock::time_point, Clock::time_point>> sections;
};

/// The interval that counts.
struct Window {
  Clock::time_point begin, end;
};

void spend(Nanoseconds time) {
  if (time.count() == 0) return;
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
  }
}

void run_thread(const Workload& load, const Window& window, latchkey::Lock lock, Work& work) {
  for (Clock::time_point asked = Clock::now(); asked < window.end; asked = Clock::now()) {
    lock.lock();
    const Clock::time_point granted = Clock::now();
    ++work.pairs;
    if (granted >= window.begin) {
      work.longest = std::max<Nanoseconds>(work.longest, granted - asked);
      if (granted < window.end) {
        ++work.grants;
        work.waited += granted - asked;
        work.waits.add(static_cast<std::uint64_t>((granted - asked).count()));
      }
    }
    spend(load.inside);
    if (!load.trace.empty()) work.sections.emplace_back(granted, Clock::now());
    lock.unlock();
  }
}

/// Waits for the line `start N`, where N is the time on the monotonic clock in ns.
Clock::time_point await_start() {
  std::cout << "ready" << std::endl;
  std::string line;
  if (!std::getline(std::cin, line) || !line.starts_with("start ")) {
    throw std::runtime_error("expected 'start'");
  }
  return Clock::time_point(Nanoseconds(number(line.substr(6))));
}

void write_trace(const std::string& path, const std::vector<Work>& works) {
  std::ofstream file(path);
  for (const Work& work : works) {
    for (const auto& [entered, left] : work.sections) {
      file << entered.time_since_epoch().count() << ' ' << left.time_since_epoch().count() << '\n';
    }
  }
}

std::string to_json(const std::vector<Work>& works) {
  Work sum;
  for (const Work& work : works) {
    sum.pairs += work.pairs;
    sum.grants += work.grants;
    sum.waited += work.waited;
    sum.longest = std::max(sum.longest, work.longest);
    sum.waits += work.waits;
  }
  std::string waits;
  for (std::size_t bucket = 0; bucket < Histogram::size; ++bucket) {
    if (sum.waits.count(bucket) == 0) continue;
    waits += fmt::format("{}[{},{}]", waits.empty() ? "" : ",", bucket, sum.waits.count(bucket));
  }
  return fmt::format(R"({{"pairs":{},"grants":{},"waited_ns":{},"longest_ns":{},"waits":[{}]}})",
                     sum.pairs, sum.grants, sum.waited.count(), sum.longest.count(), waits);
}

std::string run(const latchkey::Locks& locks, const Workload& load) {
  std::vector<Work> works(load.threads);
  std::vector<std::jthread> threads;
  std::latch ready(static_cast<std::ptrdiff_t>(load.threads));
  std::atomic<bool> started{false};
  Window window;
  for (std::size_t thread = 0; thread < load.threads; ++thread) {
    threads.emplace_back([&, thread] {
      const std::string key = load.own_keys ? fmt::format("{}:{}", load.key, thread) : load.key;
      const latchkey::Lock lock = locks.lock(key, load.type);
      ready.count_down();
      started.wait(false);
      run_thread(load, window, lock, works[thread]);
    });
  }
  ready.wait();
  window.begin = await_start() + load.warm_up;
  window.end = window.begin + load.measured;
  started = true;
  started.notify_all();
  threads.clear();
  if (!load.trace.empty()) write_trace(load.trace, works);
  return to_json(works);
}

}  // namespace

int main(int count, char** arguments) try {
  std::stringstream given;
  for (int each = 1; each < count; ++each) given << arguments[each] << ' ';
  const latchkey::Locks locks = latchkey::Locks::connect(words_of(given).at("--uri"));
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream text(line);
    std::cout << run(locks, Workload(words_of(text))) << std::endl;
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
