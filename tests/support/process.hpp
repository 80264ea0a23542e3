// Processes that tests start.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace latchkey::tests {

/// A running program. The destructor kills it by its id and waits for its end. The program also
/// ends with the thread that started it, so a test that dies leaves no process behind. Every wait
/// throws std::runtime_error after two minutes, if it has no other limit.
class Process {
 public:
  /// Whom signals reach.
  enum class Signals : std::uint8_t {
    process,
    group,  ///< also the processes that the program starts
  };

  /// Appends the program's output to `log`. Throws std::runtime_error if no process can be started.
  /// A program that does not exist ends at once with status 127.
  Process(const std::vector<std::string>& arguments, const std::string& log,
          Signals signals = Signals::process);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t id() const noexcept { return id_; }
  void signal(int number) const;

  /// Sends SIGSTOP or SIGCONT, and returns when the process is stopped or runs.
  void stop() const;
  void resume() const;

  /// For what builds or downloads something.
  static constexpr std::chrono::minutes build_limit{15};

  /// Waits for the end of the program. Returns its exit status, or 128 plus the number of the
  /// signal that ended it.
  int wait(std::chrono::minutes limit = std::chrono::minutes(2));
  /// Does not wait. If the program has ended: what wait() returns.
  std::optional<int> ended();

 private:
  void await_state(int states) const;

  const Signals signals_;
  pid_t id_ = -1;
  std::optional<int> status_;
};

/// Runs a program to its end. Throws std::runtime_error with its output unless it ends with 0.
void run(const std::vector<std::string>& arguments, const std::string& log);

}  // namespace latchkey::tests
