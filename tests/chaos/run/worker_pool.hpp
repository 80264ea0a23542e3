// The worker processes, and a fault proxy for the connection of each.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "chaos/deployment/deployment.hpp"
#include "chaos/run/resources.hpp"
#include "chaos/worker/shared_memory.hpp"
#include "chaos/worker/worker.hpp"
#include "support/process.hpp"
#include "support/servers/fault_proxy.hpp"

namespace latchkey::chaos {

class WorkerPool {
 public:
  struct Size {
    std::uint32_t workers = 4, threads = 4;
    std::set<std::uint32_t> without{};  ///< the numbers of those that are not started
  };

  /// Starts the workers. `folder`: for their output.
  WorkerPool(const Size& size, Client client, const Deployment& deployment, std::uint64_t seed,
             std::filesystem::path folder);

  /// The numbers of the workers that are started.
  [[nodiscard]] const std::vector<std::uint32_t>& numbers() const noexcept { return numbers_; }
  [[nodiscard]] SharedState& state() const noexcept { return *memory_; }
  [[nodiscard]] tests::FaultProxy& link(std::uint32_t worker) { return *places_.at(worker).link; }
  [[nodiscard]] tests::Process& process(std::uint32_t worker) {
    return *places_.at(worker).process;
  }

  void start(std::uint32_t worker);  ///< also again, after kill
  void kill(std::uint32_t worker);   ///< marks the visits that it ended as killed
  void want_fork(std::uint32_t worker) { state().workers.at(worker).fork_wanted = true; }
  void want_lack(std::uint32_t worker, Lack lack) { state().workers.at(worker).lack_wanted = lack; }
  void want_visit(std::uint32_t worker, Wish wish) { state().workers.at(worker).wish = wish; }
  void limit_descriptors(std::uint32_t worker, bool limited);

  /// Starts a round: logs are empty, and all threads call. Otherwise returns why not, as a
  /// sentence.
  std::string run();
  /// Ends a round. Returns the threads that still call after `patience`, as a sentence.
  std::string rest(Nanos patience);
  /// Adds what each thread of each worker does to stacks.log, if gdb is installed. Stops the
  /// workers for as long as gdb takes.
  void save_stacks() const;
  /// Ends the workers. Returns those that failed or did not end, as a sentence.
  std::string end();

  /// The workers that nobody killed and that have ended all the same, since the last call, with
  /// their statuses.
  std::string take_crashes();

  [[nodiscard]] std::vector<Visit> visits() const;
  [[nodiscard]] bool all_granted_since(Nanos time) const;
  /// How often `worker` was started, and what it uses.
  [[nodiscard]] int starts(std::uint32_t worker) const { return places_.at(worker).starts; }
  [[nodiscard]] Resources resources(std::uint32_t worker) const;

 private:
  void note_crash(std::uint32_t worker);

  struct Place {
    std::unique_ptr<tests::FaultProxy> link{};
    std::unique_ptr<tests::Process> process{};
    std::optional<rlimit> limit{};  ///< before limit_descriptors
    int starts = 0;
  };

  const std::uint32_t threads_;
  const std::vector<std::uint32_t> numbers_;
  const Client client_;
  const Deployment& deployment_;
  const std::uint64_t seed_;
  const std::filesystem::path folder_;
  SharedMemory memory_;
  std::vector<Place> places_;  ///< by number
  std::string crashes_;
};

}  // namespace latchkey::chaos
