// A process that uses one library, and what it reports.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "histogram.hpp"
#include "plan.hpp"

namespace latchkey::bench {

/// The work of a process in one measurement.
struct Work {
  std::uint64_t pairs = 0;   ///< acquires with their releases, also those outside the window
  std::uint64_t grants = 0;  ///< within the window
  std::chrono::nanoseconds waited{}, longest{};
  Histogram waits;
};

/// A worker that ended, reported an error, or did not reply in time.
struct WorkerFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Talks to a worker by lines through pipes, as README.md describes. The destructor closes the
/// worker's input, which ends it, and kills it by its id if it does not end within 2 s.
class Worker {
 public:
  explicit Worker(const std::vector<std::string>& command);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  void send(const std::string& line) const;
  void await_ready();
  /// Returns what it did, at the latest after `patience`.
  Work await_work(std::chrono::milliseconds patience);

 private:
  std::string read_line(std::chrono::milliseconds patience);

  pid_t id_ = -1;
  int input_ = -1, output_ = -1;  // the worker's
  std::string read_{};            // the beginning of a line
};

/// How each library's worker is started.
struct Commands {
  std::string latchkey, go;  ///< programs
  std::string classpath;     ///< the class path of RedissonWorker

  [[nodiscard]] std::vector<std::string> of(Library library, const std::string& uri) const;
};

}  // namespace latchkey::bench
