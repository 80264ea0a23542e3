// The worker processes.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/run/worker_pool.hpp"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <utility>

namespace latchkey::chaos {
namespace {

/// Polls what other processes write into shared memory. False after `patience`.
template <class Condition>
bool await(Nanos patience, Condition&& condition) {
  for (const Nanos end = now() + patience; !condition(); ::poll(nullptr, 0, 2)) {
    if (now() > end) return false;
  }
  return true;
}

LockTypes offered_types(const Deployment& deployment) {
  using enum LockType;
  LockTypes types = 0;
  for (const LockType type : {REENTRANT, FAIR, READ, WRITE, FENCED, PERMIT}) {
    if (deployment.offers(type)) types |= bit_of(type);
  }
  return types;
}

std::vector<std::uint32_t> numbers_of(const WorkerPool::Size& size) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t worker = 0; worker < size.workers; ++worker) {
    if (!size.without.contains(worker)) numbers.push_back(worker);
  }
  return numbers;
}

}  // namespace

WorkerPool::WorkerPool(const Size& size, Client client, const Deployment& deployment,
                       std::uint64_t seed, std::filesystem::path folder)
    : threads_(size.threads),
      numbers_(numbers_of(size)),
      client_(client),
      deployment_(deployment),
      seed_(seed),
      folder_(std::move(folder)),
      places_(size.workers) {
  const std::uint16_t server_port = deployment.link_port();
  for (const std::uint32_t worker : numbers_) {
    places_[worker].link = std::make_unique<tests::FaultProxy>(server_port);
    start(worker);
  }
}

void WorkerPool::start(std::uint32_t worker) {
  Place& place = places_.at(worker);
  ++place.starts;
  state().workers.at(worker).ready = false;
  for (ToolState& tool : state().workers.at(worker).tools)
    tool.process = 0;  // with the old process
  const WorkerArguments arguments{
      .worker = worker,
      .threads = threads_,
      .memory = memory_.descriptor(),
      .port = place.link->port(),
      .seed = seed_ + 1'000 * worker + static_cast<std::uint64_t>(place.starts) * 1'000'000,
      .client = client_,
      .kind = deployment_.worker_kind(worker),
      .types = offered_types(deployment_),
      .uri = deployment_.uri(place.link->port())};
  std::vector<std::string> words{"/proc/self/exe", "--worker"};
  std::ranges::copy(arguments.words(), std::back_inserter(words));
  // A Java process is stopped with its worker. Tools run on: their holds are theirs.
  using enum tests::Process::Signals;
  const bool has_java = arguments.kind == WorkerKind::redisson;
  place.process =
      std::make_unique<tests::Process>(words, folder_ / "workers.log", has_java ? group : process);
}

// A worker that is killed before it was started again had been killed.
void WorkerPool::note_crash(std::uint32_t worker) {
  const std::optional<int> status = process(worker).ended();
  if (!status || *status == 128 + SIGKILL) return;
  crashes_ += " worker " + std::to_string(worker) + ": status " + std::to_string(*status);
}

std::string WorkerPool::take_crashes() {
  for (const std::uint32_t worker : numbers_) note_crash(worker);
  return std::exchange(crashes_, {});
}

void WorkerPool::kill(std::uint32_t worker) {
  note_crash(worker);
  process(worker).signal(SIGKILL);
  process(worker).wait();
  for (VisitLog& log : state().workers.at(worker).threads) {
    const std::uint32_t used = log.used;
    if (used != 0 && log.visits[used - 1].ended == 0) log.visits[used - 1].killed = true;
  }
}

void WorkerPool::limit_descriptors(std::uint32_t worker, bool limited) {
  Place& place = places_.at(worker);
  rlimit limit{};
  if (limited) {
    ::prlimit(process(worker).id(), RLIMIT_NOFILE, nullptr, &limit);
    place.limit = limit;
    limit.rlim_cur = 3;
  } else {
    limit = place.limit.value();
  }
  ::prlimit(process(worker).id(), RLIMIT_NOFILE, &limit, nullptr);
}

std::string WorkerPool::run() {
  for (const std::uint32_t worker : numbers_) {
    for (VisitLog& log : state().workers[worker].threads) log.used = 0;
  }
  const bool ready = await(20'000 * millisecond, [&] {
    return std::ranges::all_of(
        numbers_, [&](std::uint32_t worker) { return state().workers[worker].ready.load(); });
  });
  if (!ready) return "see " + folder_.string();
  state().round_began = now();
  state().phase = Phase::run;
  return {};
}

std::string WorkerPool::rest(Nanos patience) {
  state().phase = Phase::rest;
  const std::uint32_t round = ++state().round;
  std::string busy;
  const auto all_rest = [&] {
    busy.clear();
    for (const std::uint32_t worker : numbers_) {
      for (std::uint32_t thread = 0; thread < threads_; ++thread) {
        if (state().workers[worker].threads[thread].rests_since >= round) continue;
        busy += " " + std::to_string(worker) + ":" + std::to_string(thread);
      }
    }
    return busy.empty();
  };
  if (await(patience, all_rest)) return {};
  return "these worker:threads do not return from their calls:" + busy;
}

void WorkerPool::save_stacks() const {
  for (const std::uint32_t worker : numbers_) {
    const std::string id = std::to_string(places_.at(worker).process->id());
    tests::Process({"gdb", "-p", id, "-batch", "-nx", "-ex", "info proc cmdline", "-ex",
                    "thread apply all bt"},
                   folder_ / "stacks.log")
        .wait();
  }
}

std::string WorkerPool::end() {
  state().phase = Phase::over;
  std::string failed;
  for (const std::uint32_t worker : numbers_) {
    const bool ended =
        await(10'000 * millisecond, [&] { return process(worker).ended().has_value(); });
    if (ended && process(worker).ended() == 0) continue;
    failed += " worker " + std::to_string(worker) +
              (ended ? " ended with status " + std::to_string(*process(worker).ended())
                     : " does not end");
  }
  return failed;
}

std::vector<Visit> WorkerPool::visits() const {
  std::vector<Visit> all;
  for (const std::uint32_t worker : numbers_) {
    for (const VisitLog& log : state().workers[worker].threads) {
      std::copy_n(log.visits.begin(), log.used.load(), std::back_inserter(all));
    }
  }
  return all;
}

bool WorkerPool::all_granted_since(Nanos time) const {
  std::array<bool, key_count> keys{};
  for (const std::uint32_t worker : numbers_) {
    for (std::uint32_t thread = 0; thread < threads_; ++thread) {
      const VisitLog& log = state().workers[worker].threads[thread];
      bool granted = false;
      for (std::uint32_t index = log.used; index-- > 0;) {
        const Visit& visit = log.visits[index];
        if (visit.called != 0 && visit.called < time - 5'000 * millisecond) break;
        if (visit.outcome != Outcome::granted || visit.entered < time) continue;
        granted = keys.at(visit.key) = true;
      }
      if (!granted) return false;
    }
  }
  const auto visited = client_ == Client::latchkey ? key_count : plain_keys;
  return std::all_of(keys.begin(), keys.begin() + visited, [](bool each) { return each; });
}

Resources WorkerPool::resources(std::uint32_t worker) const {
  return resources_of(places_.at(worker).process->id());
}

}  // namespace latchkey::chaos
