// Two processes share a lock. One is killed while it holds the lock; the other takes over.
//
//     two_processes --backend redis://127.0.0.1:6379
//
// The first worker holds "nightly-report". The watchdog renews its lease of 2 s for as long as the
// worker lives. When the worker is killed, the renewals stop, and the second worker gets the lock
// after the lease has expired. Its fencing token is larger than the first worker's, so a store that
// compares tokens rejects late writes of the first worker.
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "on_backend.hpp"

using namespace std::chrono_literals;
using latchkey::LockType;
using Time = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds watchdog_lease = 2s;

/// The worker's message to its parent when it holds the lock.
struct Entered {
  std::uint64_t token = 0;
};

/// Holds the lock until it is killed, or until its input ends.
int work(const std::string& uri, int tell, int until_end_of) {
  const auto locks = latchkey::Locks::connect(uri, {.watchdog = watchdog_lease});
  const latchkey::Hold hold = locks.lock("nightly-report", LockType::FENCED).acquire(30s);
  const Entered entered{hold.fencing_token().value_or(0)};
  if (::write(tell, &entered, sizeof entered) != sizeof entered) return 1;
  char byte = 0;
  while (::read(until_end_of, &byte, 1) > 0) continue;
  return hold.lost() ? 1 : 0;
}

/// A worker in a separate process.
class Worker {
 public:
  explicit Worker(const std::string& uri) {
    if (::pipe(heard_.data()) != 0 || ::pipe(go_on_.data()) != 0) {
      throw std::runtime_error("no pipe to a worker");
    }
    id_ = ::fork();
    if (id_ == -1) throw std::runtime_error("no process for a worker");
    if (id_ != 0) {
      ::close(heard_[1]);
      ::close(go_on_[0]);
      return;
    }
    ::close(heard_[0]);
    ::close(go_on_[1]);
    int status = 1;
    try {
      status = work(uri, heard_[1], go_on_[0]);
    } catch (const std::exception& error) {
      fmt::print(stderr, "worker {}: {}\n", ::getpid(), error.what());
    }
    std::_Exit(status);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    end();
    ::close(heard_[0]);
  }

  [[nodiscard]] pid_t id() const { return id_; }

  /// Waits until the worker holds the lock.
  [[nodiscard]] Entered entered() const {
    Entered entered;
    if (::read(heard_[0], &entered, sizeof entered) != sizeof entered) {
      throw std::runtime_error("the worker did not get in");
    }
    return entered;
  }

  void kill() const { ::kill(id_, SIGKILL); }

  /// Lets the worker release the lock and end; returns its exit status.
  int end() {
    if (id_ == -1) return 0;
    ::close(go_on_[1]);
    int status = 0;
    ::waitpid(id_, &status, 0);
    id_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  std::array<int, 2> heard_{}, go_on_{};
  pid_t id_ = -1;
};

double seconds_since(Time::time_point start) {
  return std::chrono::duration<double>(Time::now() - start).count();
}

int run(const std::string& uri) {
  Worker first(uri);
  const Entered one = first.entered();
  fmt::print("worker {} has the lock, token {}\n", first.id(), one.token);
  Worker second(uri);
  fmt::print("worker {} waits for it\n", second.id());

  const auto killed = Time::now();
  first.kill();
  fmt::print("worker {} is killed while it holds; its lease of {} s runs out\n", first.id(),
             watchdog_lease.count() / 1000);
  const Entered two = second.entered();
  fmt::print("worker {} took over after {:.2f} s, token {}: larger, so late writes are refused\n",
             second.id(), seconds_since(killed), two.token);
  const int status = second.end();
  return status == 0 && two.token > one.token ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return run_on_backend(argc, argv, "Two processes share a lock; one is killed while it holds.",
                        run);
}
