// Runs a workload with a server on one processor and the workers on the others.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan.hpp"
#include "support/servers/redis_server.hpp"
#include "worker.hpp"

namespace latchkey::bench {

/// How the lock went from one process to another.
struct HandOff {
  double part = 0;           ///< the part of all grants that follows a hold of another process
  double us = 0;             ///< median from the end of one section to the start of the next
  double trips = 0;          ///< `us` in round trips
  double round_trip_us = 0;  ///< a PING in the same run
};

/// The results of one measurement.
struct Sample {
  double rate = 0;  ///< grants per second of all processes
  double p50_us = 0, p99_us = 0, mean_us = 0;
  double longest_ms = 0;           ///< wait
  double share = 0;                ///< the rate of the slowest process, relative to the fastest
  double server_us = 0;            ///< processor time of the server for an acquire and its release
  std::vector<double> rates{};     ///< the rate of each process
  std::vector<double> waits_ms{};  ///< the longest of each process
  std::optional<HandOff> hand_off{};
};

struct Timing {
  std::chrono::milliseconds warm_up, measured;
  std::chrono::milliseconds jvm_warm_up;  ///< once, for each type, before everything else
};

/// The server, and the workers, which live until the end so that Java's compiler runs once only.
class Contest {
 public:
  Contest(Commands commands, Timing timing);

  /// Starts what the workload needs, and lets it work without being measured. Throws
  /// WorkerFailed as measure does.
  void warm_up(const Workload& load);
  /// Throws WorkerFailed, after which the next call starts the workload's workers again.
  Sample measure(const Workload& load);

  [[nodiscard]] std::string server_version() const;

 private:
  using Workers = std::vector<Worker*>;

  Workers workers_of(const Workload& load);
  /// Ends the workload's workers if `run` throws WorkerFailed.
  template <class Run>
  auto attempt(const Workload& load, Run run) -> decltype(run());
  std::vector<Work> run(const Workload& load, const Timing& timing);
  Sample measure_once(const Workload& load);
  double round_trip_us();
  [[nodiscard]] double server_seconds() const;
  [[nodiscard]] std::string trace_of(std::size_t process) const;
  HandOff hand_off(std::size_t processes);

  Commands commands_;
  Timing timing_;
  std::unique_ptr<tests::RedisServer> server_;
  std::map<Library, std::vector<std::unique_ptr<Worker>>> workers_{};
  std::int64_t start_ = 0;  ///< the start of the last run, in ns of CLOCK_MONOTONIC
  int runs_ = 0;
};

}  // namespace latchkey::bench
