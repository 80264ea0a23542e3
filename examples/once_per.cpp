// A scheduled job on four processes: each instant is run by one of them. One that runs the job is
// killed, and the others continue; the instant that it ran is run again, because it was not done.
//
//     once_per --backend redis://127.0.0.1:6379
//
// The period is 1 s and the lease 300 ms, so the others may run an instant whose process was killed
// in the same second. They wait for that (OncePerOptions::wait).
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "on_backend.hpp"

using namespace std::chrono_literals;

namespace {

constexpr int processes = 4, instants = 4;

/// A message from a process to the first one.
struct Line {
  enum class What : char { begins, done } what;
  pid_t process;
  std::chrono::system_clock::time_point instant;
};

void tell(int to, Line::What what, std::chrono::system_clock::time_point instant) {
  const Line line{what, ::getpid(), instant};
  if (::write(to, &line, sizeof line) != sizeof line) throw std::runtime_error("nobody listens");
}

/// One of the four: runs the job at each instant that no other one runs, until it is killed.
[[noreturn]] void work(const std::string& uri, int to) {
  try {
    const auto locks = latchkey::Locks::connect(uri, {.watchdog = 300ms});
    const auto job = locks.once_per("example:report", 1s, {.clock_error = 100ms, .wait = 800ms});
    for (;;) {
      std::this_thread::sleep_until(job.next_instant());
      const auto result = job.run([&](const latchkey::OnceRun& run) {
        tell(to, Line::What::begins, run.instant);
        std::this_thread::sleep_for(200ms);  // the work
      });
      if (result) tell(to, Line::What::done, result.instant);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "process {}: {}\n", ::getpid(), error.what());
    std::_Exit(1);
  }
}

class Workers {
 public:
  explicit Workers(const std::string& uri) {
    if (::pipe(lines_.data()) != 0) throw std::runtime_error("no pipe to the processes");
    for (pid_t& id : ids_) {
      id = ::fork();
      if (id == -1) throw std::runtime_error("no process for the job");
      if (id == 0) work(uri, lines_[1]);
    }
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    for (const pid_t id : ids_) kill(id);
  }

  [[nodiscard]] Line next() const {
    Line line{};
    if (::read(lines_[0], &line, sizeof line) != sizeof line) {
      throw std::runtime_error("the processes say nothing");
    }
    return line;
  }
  static void kill(pid_t id) {
    ::kill(id, SIGKILL);
    ::waitpid(id, nullptr, 0);
  }

 private:
  std::array<int, 2> lines_{};
  std::array<pid_t, processes> ids_{};
};

int run(const std::string& uri) {
  const Workers workers(uri);
  std::map<std::chrono::system_clock::time_point, int> done;
  pid_t killed = 0;
  while (done.size() < instants) {
    const Line line = workers.next();
    const auto second =
        std::chrono::duration_cast<std::chrono::seconds>(line.instant.time_since_epoch()).count() %
        60;
    if (line.what == Line::What::done) {
      fmt::print("instant {:02}: done by process {}\n", second, line.process);
      if (++done[line.instant] > 1) return 1;  // never
    } else if (killed == 0 && !done.empty()) {
      Workers::kill(killed = line.process);
      fmt::print("instant {:02}: process {} was killed in the middle of it\n", second, killed);
    }
  }
  fmt::print("{} instants, each done once\n", done.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run_on_backend(argc, argv,
                        "A job that one of four processes runs each second; one is killed.", run);
}
