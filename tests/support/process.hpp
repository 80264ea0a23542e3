// Other programs, run by tests.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace latchkey::tests {

/// A program that was started and is ended with this object: by its id, with SIGKILL, and awaited.
/// It also ends with the thread that started it, so that a test that dies leaves nothing behind.
class Process {
 public:
  /// What it prints goes to the end of `log`. Throws std::runtime_error where it cannot be started;
  /// a program that does not exist ends at once with status 127.
  Process(const std::vector<std::string>& arguments, const std::string& log);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t id() const noexcept { return id_; }
  void signal(int number) const;

  /// SIGSTOP, and back when it is stopped; SIGCONT, and back when it runs.
  void stop() const;
  void resume() const;

  /// Waits for its end and gives its exit status, or 128 and the signal's number.
  int wait();
  /// The same where it has ended; does not wait.
  std::optional<int> ended();

 private:
  pid_t id_ = -1;
  std::optional<int> status_;
};

/// Runs a program to its end. Throws std::runtime_error with its output unless it ends with 0.
void run(const std::vector<std::string>& arguments, const std::string& log);

}  // namespace latchkey::tests
