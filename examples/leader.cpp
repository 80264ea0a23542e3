// A leader with failover: one of several processes runs the scheduler. The first one is killed, the
// second one takes over, and the third one takes over when the second one resigns.
//
//     leader --backend redis://127.0.0.1:6379
//
// The lease is 2 s, so a killed leader is followed after at most 2 s and a round trip, and one that
// resigns after one round trip. Each term is larger than the one before: a store that compares
// terms rejects what a former leader writes late.
#include <latchkey/latchkey.hpp>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "on_backend.hpp"

using namespace std::chrono_literals;
using Time = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds lease = 2s;

/// The work that only one process may do at a time.
class Scheduler {
 public:
  Scheduler(const latchkey::Locks& locks, int tell)
      : tell_(tell),
        leader_(locks.leader("leader:scheduler", [this](const std::stop_token& stop,
                                                        std::uint64_t term) { run(stop, term); })) {
  }

 private:
  /// Says which term it is, and works until it is told to stop.
  void run(const std::stop_token& stop, std::uint64_t term) const {
    if (::write(tell_, &term, sizeof term) != sizeof term) {
      throw std::runtime_error("nobody listens to the scheduler");
    }
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait(lock, stop, [] { return false; });
  }

  int tell_;
  latchkey::Leader leader_;  // last: its callback uses the members above
};

/// A candidate in a process of its own, until it is killed or gets a byte.
class Candidate {
 public:
  explicit Candidate(const std::string& uri) {
    if (::pipe(terms_.data()) != 0 || ::pipe(go_on_.data()) != 0) {
      throw std::runtime_error("no pipe to a candidate");
    }
    id_ = ::fork();
    if (id_ == -1) throw std::runtime_error("no process for a candidate");
    ::close(id_ != 0 ? terms_[1] : terms_[0]);
    ::close(id_ != 0 ? go_on_[0] : go_on_[1]);
    if (id_ == 0) std::_Exit(work(uri));
  }
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;
  ~Candidate() { end(); }

  [[nodiscard]] pid_t id() const { return id_; }
  void kill() const { ::kill(id_, SIGKILL); }

  /// Waits until it leads; returns its term.
  [[nodiscard]] std::uint64_t elected() const {
    std::uint64_t term = 0;
    if (::read(terms_[0], &term, sizeof term) != sizeof term) {
      throw std::runtime_error("a candidate ended without being elected");
    }
    return term;
  }

  /// Lets the process destroy its Leader and end.
  void end() {
    if (id_ == -1) return;
    const char byte = 0;  // later candidates have inherited the pipe: closing it would not end it
    const bool told = ::write(go_on_[1], &byte, 1) == 1;
    if (!told) ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
    ::close(go_on_[1]);
    ::close(terms_[0]);
    id_ = -1;
  }

 private:
  int work(const std::string& uri) const {
    try {
      const auto locks = latchkey::Locks::connect(uri, {.watchdog = lease});
      const Scheduler scheduler(locks, terms_[1]);
      char byte = 0;
      return ::read(go_on_[0], &byte, 1) == 1 ? 0 : 1;
    } catch (const std::exception& error) {
      fmt::print(stderr, "candidate {}: {}\n", ::getpid(), error.what());
      return 1;
    }
  }

  std::array<int, 2> terms_{}, go_on_{};
  pid_t id_ = -1;
};

double seconds_since(Time::time_point start) {
  return std::chrono::duration<double>(Time::now() - start).count();
}

int run(const std::string& uri) {
  Candidate first(uri);
  const std::uint64_t one = first.elected();
  fmt::print("process {} leads, term {}\n", first.id(), one);

  Candidate second(uri);
  auto since = Time::now();
  first.kill();
  const std::uint64_t two = second.elected();
  fmt::print("process {} was killed; process {} leads after {:.2f} s, term {}\n", first.id(),
             second.id(), seconds_since(since), two);

  Candidate third(uri);
  since = Time::now();
  second.end();
  const std::uint64_t three = third.elected();
  fmt::print("the leader ended in order; process {} leads after {:.2f} s, term {}\n", third.id(),
             seconds_since(since), three);
  return one < two && two < three ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a candidate that was killed reads nothing
  return run_on_backend(argc, argv, "Three processes in turn lead; the first one is killed.", run);
}
