// A rate-limited export: four processes have reports to write, and three may be at work at once.
// One of them is killed in the middle; its permit is available again when its lease ends.
//
//     export --backend redis://127.0.0.1:6379
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "on_backend.hpp"

using namespace std::chrono_literals;
using latchkey::LockType;

namespace {

constexpr int processes = 4, reports_each = 6, at_once = 3;
/// Short, so that the permit of the killed process is soon available again.
constexpr std::chrono::milliseconds lease = 1s;

/// The counters that the processes share.
struct Counters {
  std::atomic<int> at_work{0}, most{0}, written{0};
};

Counters& shared_counters() {
  void* const memory =
      ::mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return *new (memory) Counters;
}

class Exporter {
 public:
  explicit Exporter(Counters& counters) : counters_(counters) {}

  /// At most three of all processes are in the body.
  void write(int report) {
    LOCKED("exports", LockType::PERMIT, 30s, lease).permits(at_once) AROUND(report) {
      const int now = ++counters_.at_work;
      for (int most = counters_.most; now > most;) {
        if (counters_.most.compare_exchange_weak(most, now)) break;
      }
      std::this_thread::sleep_for(20ms);  // the work
      ++counters_.written;
      --counters_.at_work;
    };
  }

 private:
  Counters& counters_;
};

/// Takes a permit and never gives it back: it waits to be killed. Says so with a byte.
[[noreturn]] void take_and_hang(const std::string& uri, int tell) {
  const latchkey::Locks locks = latchkey::Locks::connect(uri);
  const latchkey::Hold permit = locks.semaphore("exports", at_once).acquire(1, 10s, lease);
  if (::write(tell, "", 1) != 1) std::_Exit(1);
  for (;;) ::pause();
}

int work(const std::string& uri, Counters& counters) {
  try {
    latchkey::install(latchkey::Locks::connect(uri));
    Exporter exporter(counters);
    for (int report = 0; report < reports_each; ++report) exporter.write(report);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

template <class Work>
pid_t start(Work&& work) {
  const pid_t id = ::fork();
  if (id == -1) throw std::runtime_error("no process for an exporter");
  if (id == 0) std::_Exit(work());
  return id;
}

int run(const std::string& uri) {
  Counters& counters = shared_counters();
  std::array<int, 2> ready{};
  if (::pipe(ready.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t doomed = start([&]() -> int { take_and_hang(uri, ready[1]); });
  char byte = 0;
  if (::read(ready[0], &byte, 1) != 1) throw std::runtime_error("nobody took a permit");
  ::kill(doomed, SIGKILL);
  ::waitpid(doomed, nullptr, 0);
  fmt::print("a process was killed with one of {} permits\n", at_once);

  std::array<pid_t, processes> exporters{};
  for (pid_t& each : exporters) each = start([&] { return work(uri, counters); });
  bool good = true;
  for (const pid_t each : exporters) {
    int status = 0;
    ::waitpid(each, &status, 0);
    good = good && status == 0;
  }
  const latchkey::Semaphore exports = latchkey::Locks::connect(uri).semaphore("exports", at_once);
  const bool all_back = exports.try_acquire(at_once, 10 * lease).has_value();
  fmt::print("{} reports, at most {} at once\n", counters.written.load(), counters.most.load());
  good =
      good && all_back && counters.written == processes * reports_each && counters.most <= at_once;
  return exports.destroy() && good ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  return run_on_backend(argc, argv, "Four processes write reports, three at a time.", run);
}
