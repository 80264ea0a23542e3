// The process of a worker.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/worker/worker.hpp"

#include <poll.h>

#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

#include <latchkey/error.hpp>

#include "chaos/deployment/stores/stores.hpp"
#include "chaos/worker/shared_memory.hpp"
#include "chaos/worker/workload.hpp"

namespace latchkey::chaos {

std::vector<std::string> WorkerArguments::words() const {
  return {std::to_string(worker),
          std::to_string(threads),
          std::to_string(memory),
          std::to_string(port),
          std::to_string(seed),
          std::to_string(static_cast<int>(client)),
          std::to_string(static_cast<int>(kind)),
          std::to_string(types),
          uri};
}

WorkerArguments WorkerArguments::parse(const std::vector<std::string>& words) {
  const auto number = [&](std::size_t index) { return std::stoull(words.at(index)); };
  return {.worker = static_cast<std::uint32_t>(number(0)),
          .threads = static_cast<std::uint32_t>(number(1)),
          .memory = static_cast<int>(number(2)),
          .port = static_cast<std::uint16_t>(number(3)),
          .seed = number(4),
          .client = static_cast<Client>(number(5)),
          .kind = static_cast<WorkerKind>(number(6)),
          .types = static_cast<LockTypes>(number(7)),
          .uri = words.at(8)};
}

namespace {

std::unique_ptr<LockSources> sources_of(const WorkerArguments& arguments, SharedState& shared) {
  if (arguments.client != Client::latchkey) {
    return defective_sources(arguments.client, arguments.port, arguments.worker);
  }
  if (arguments.kind == WorkerKind::coroutines) {
    return coroutine_sources(arguments.uri);
  }
  if (arguments.kind == WorkerKind::redisson) return redisson_sources(arguments.uri);
  if (arguments.kind == WorkerKind::tool) {
    return tool_sources(arguments.uri, shared.workers.at(arguments.worker));
  }
  const bool idle = arguments.kind == WorkerKind::idle;
  const std::chrono::milliseconds time = idle_times[arguments.worker / 2 % idle_times.size()];
  return latchkey_sources(arguments.uri, idle ? time : std::chrono::milliseconds(0));
}

/// Records a visit of the first thread, so that the judge asks which fault explains the refusal.
void note_refusal(VisitLog& log, std::uint32_t worker, Nanos called, const char* why) {
  if (log.used >= VisitLog::capacity) return;
  Visit& visit = log.visits[log.used];
  visit = {.worker = worker, .outcome = Outcome::refused, .lack = Lack::threads, .called = called};
  visit.entered = visit.ended = now();
  std::strncpy(visit.text.data(), why, visit.text.size() - 1);
  ++log.used;
}

/// A process that starts while a permission is missing that every lock needs, or every idle lock,
/// is refused.
std::unique_ptr<LockSources> permitted_sources(const WorkerArguments& arguments,
                                               SharedState& shared) {
  for (;; ::poll(nullptr, 0, 20)) {
    const Nanos called = now();
    const auto note = [&](const std::exception& refused) {
      note_refusal(shared.workers.at(arguments.worker).threads[0], arguments.worker, called,
                   refused.what());
    };
    try {
      return sources_of(arguments, shared);
    } catch (const BackendRefused& refused) {
      note(refused);
    } catch (const std::invalid_argument& refused) {
      note(refused);
    }
  }
}

}  // namespace

int run_worker(const WorkerArguments& arguments) {
  register_stores();
  const SharedMemory memory(arguments.memory);
  const bool plain = arguments.client != Client::latchkey;
  const std::unique_ptr<LockSources> sources = permitted_sources(arguments, *memory);
  std::vector<std::jthread> threads;
  for (std::uint32_t thread = 0; thread < arguments.threads; ++thread) {
    threads.emplace_back([&, thread, source = sources->make(thread)] {
      Workload(*memory,
               {.worker = arguments.worker,
                .thread = thread,
                .seed = arguments.seed,
                .plain = plain,
                .redisson = arguments.kind == WorkerKind::redisson,
                .idle = arguments.kind == WorkerKind::idle,
                .types = arguments.types},
               *source)
          .run();
    });
  }
  memory->workers.at(arguments.worker).ready = true;
  threads.clear();
  return 0;
}

}  // namespace latchkey::chaos
