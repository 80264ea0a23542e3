// Starts all processes of a workload at the same time and adds up what they report.
#include "measure.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "side_by_side.hpp"

namespace latchkey::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Pins this thread, and what it starts, to all processors except the server's.
void pin_to_client_processors(int server_processor) {
  cpu_set_t others;
  sched_getaffinity(0, sizeof others, &others);
  if (CPU_COUNT(&others) > 1) CPU_CLR(static_cast<std::size_t>(server_processor), &others);
  pthread_setaffinity_np(pthread_self(), sizeof others, &others);
}

std::unique_ptr<tests::RedisServer> start_server() {
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  int first = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(first), &before)) ++first;
  pin_to(first);
  auto server = std::make_unique<tests::RedisServer>();
  pthread_setaffinity_np(pthread_self(), sizeof before, &before);
  pin_to_client_processors(first);
  return server;
}

double field(const std::string& info, const std::string& name) {
  const std::size_t at = info.find(name + ":");
  if (at == std::string::npos) throw std::runtime_error("INFO has no " + name);
  return std::stod(info.substr(at + name.size() + 1));
}

/// The time from a grant to its release.
struct Section {
  std::int64_t entered, left;
  std::size_t process;
};

std::vector<Section> read_trace(const std::string& path, std::size_t process) {
  std::vector<Section> sections;
  std::ifstream file(path);
  for (Section each{0, 0, process}; file >> each.entered >> each.left;) sections.push_back(each);
  return sections;
}

}  // namespace

Contest::Contest(Commands commands, Timing timing)
    : commands_(std::move(commands)), timing_(timing), server_(start_server()) {}

template <class Run>
auto Contest::attempt(const Workload& load, Run run) -> decltype(run()) {
  try {
    return run();
  } catch (const WorkerFailed&) {
    for (const Library library : load.processes) workers_.erase(library);
    throw;
  }
}

void Contest::warm_up(const Workload& load) {
  const bool java = load.library() == Library::redisson;
  const auto length = java ? timing_.jvm_warm_up : timing_.measured;
  attempt(load, [&] { return run(load, {length, std::chrono::milliseconds(0), {}}); });
}

Sample Contest::measure(const Workload& load) {
  return attempt(load, [&] { return measure_once(load); });
}

std::string Contest::server_version() const {
  const std::string info = server_->client()({"INFO", "server"}).text();
  const std::size_t at = info.find("redis_version:") + 14;
  return info.substr(at, info.find('\r', at) - at);
}

Contest::Workers Contest::workers_of(const Workload& load) {
  Workers result;
  std::map<Library, std::size_t> used;
  for (const Library library : load.processes) {
    auto& running = workers_[library];
    const std::size_t index = used[library]++;
    if (index == running.size()) {
      running.push_back(std::make_unique<Worker>(commands_.of(library, server_->tcp_uri())));
    }
    result.push_back(running[index].get());
  }
  return result;
}

std::vector<Work> Contest::run(const Workload& load, const Timing& timing) {
  const Workers workers = workers_of(load);
  // The key is new, so that nothing of an earlier workload takes part.
  const std::string line = fmt::format("{} --key bench:{}",
                                       load.words(static_cast<int>(timing.warm_up.count()),
                                                  static_cast<int>(timing.measured.count())),
                                       ++runs_);
  for (std::size_t each = 0; each < workers.size(); ++each) {
    const bool traced = load.group == Group::hand_off;
    workers[each]->send(traced ? line + " --trace " + trace_of(each) : line);
  }
  for (Worker* const worker : workers) worker->await_ready();
  const Clock::time_point start = Clock::now();
  start_ = std::chrono::nanoseconds(start.time_since_epoch()).count();
  for (const Worker* const worker : workers) worker->send(fmt::format("start {}", start_));
  constexpr std::chrono::seconds longest_wait{45};
  const auto end = start + timing.warm_up + timing.measured + longest_wait;
  std::vector<Work> works;
  for (Worker* const worker : workers) {
    works.push_back(
        worker->await_work(std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now())));
  }
  return works;
}

Sample Contest::measure_once(const Workload& load) {
  const double before = server_seconds();
  const std::vector<Work> works = run(load, timing_);
  const double seconds = server_seconds() - before;
  Work sum;
  Sample sample;
  for (const Work& work : works) {
    sum.pairs += work.pairs;
    sum.grants += work.grants;
    sum.waited += work.waited;
    sum.waits += work.waits;
    const std::chrono::duration<double> length = timing_.measured;
    sample.rates.push_back(static_cast<double>(work.grants) / length.count());
    sample.rate += sample.rates.back();
    sample.waits_ms.push_back(static_cast<double>(work.longest.count()) / 1e6);
  }
  if (sum.pairs == 0) throw WorkerFailed("no process was granted the lock");
  const auto [slowest, fastest] = std::minmax_element(sample.rates.begin(), sample.rates.end());
  sample.share = *fastest > 0 ? *slowest / *fastest : 0;
  sample.p50_us = sum.waits.quantile(0.5) / 1e3;
  sample.p99_us = sum.waits.quantile(0.99) / 1e3;
  const auto grants = static_cast<double>(std::max<std::uint64_t>(sum.grants, 1));
  sample.mean_us = static_cast<double>(sum.waited.count()) / 1e3 / grants;
  sample.longest_ms = *std::ranges::max_element(sample.waits_ms);
  sample.server_us = seconds * 1e6 / static_cast<double>(sum.pairs);
  if (load.group == Group::hand_off) sample.hand_off = hand_off(works.size());
  return sample;
}

double Contest::round_trip_us() {
  tests::RedisClient client = server_->client_tcp();
  std::vector<double> times;
  for (int each = 0; each < 2'000; ++each) {
    const auto sent = Clock::now();
    client({"PING"});
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - sent).count());
  }
  return median(std::move(times));
}

double Contest::server_seconds() const {
  const std::string info = server_->client()({"INFO", "cpu"}).text();
  return field(info, "used_cpu_user") + field(info, "used_cpu_sys");
}

std::string Contest::trace_of(std::size_t process) const {
  return (server_->folder() / fmt::format("trace-{}", process)).string();
}

HandOff Contest::hand_off(std::size_t processes) {
  std::vector<Section> sections;
  for (std::size_t process = 0; process < processes; ++process) {
    const auto found = read_trace(trace_of(process), process);
    sections.insert(sections.end(), found.begin(), found.end());
  }
  const std::int64_t begin = start_ + std::chrono::nanoseconds(timing_.warm_up).count();
  const std::int64_t end = begin + std::chrono::nanoseconds(timing_.measured).count();
  std::erase_if(sections,
                [&](const Section& each) { return each.entered < begin || each.entered >= end; });
  std::ranges::sort(sections, {}, &Section::entered);
  std::vector<double> gaps;
  for (std::size_t at = 1; at < sections.size(); ++at) {
    const auto gap = static_cast<double>(sections[at].entered - sections[at - 1].left);
    // The times are taken inside the lock, so this would be two holders at once.
    if (gap < 0) throw std::runtime_error("two processes held the lock at the same time");
    if (sections[at].process != sections[at - 1].process) gaps.push_back(gap / 1e3);
  }
  HandOff result;
  result.round_trip_us = round_trip_us();
  if (gaps.empty()) return result;
  result.part = static_cast<double>(gaps.size()) / static_cast<double>(sections.size());
  result.us = median(std::move(gaps));
  result.trips = result.us / result.round_trip_us;
  return result;
}

}  // namespace latchkey::bench
