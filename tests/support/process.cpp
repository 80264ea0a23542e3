// Processes that tests start.
#include "support/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace latchkey::tests {
namespace {

[[noreturn]] void become(char* const* arguments, const char* log, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(126);
  const int in = ::open("/dev/null", O_RDONLY);
  const int out = ::open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (in == -1 || out == -1) ::_exit(126);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
  ::execvp(arguments[0], arguments);
  ::_exit(127);
}

int exit_status(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Polls `condition` every millisecond. Throws std::runtime_error after `limit`.
template <class Condition>
void await_child(Condition&& condition, std::chrono::minutes limit = std::chrono::minutes(2)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) {
      throw std::runtime_error("a child process did not change its state within " +
                               std::to_string(limit.count()) + " minutes");
    }
    ::poll(nullptr, 0, 1);
  }
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const std::string& log, Signals signals)
    : signals_(signals) {
  std::vector<char*> pointers;
  for (const std::string& each : arguments) pointers.push_back(const_cast<char*>(each.c_str()));
  pointers.push_back(nullptr);
  const pid_t parent = ::getpid();
  id_ = ::fork();
  if (id_ == -1) throw std::runtime_error("cannot start " + arguments.front());
  // Both do it, because either may run first.
  if (signals == Signals::group) ::setpgid(id_, id_);
  if (id_ == 0) become(pointers.data(), log.c_str(), parent);
}

Process::~Process() {
  if (ended()) return;
  signal(SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

void Process::signal(int number) const {
  if (!status_) ::kill(signals_ == Signals::group ? -id_ : id_, number);
}

void Process::stop() const {
  signal(SIGSTOP);
  await_state(WSTOPPED | WEXITED);
}

void Process::resume() const {
  signal(SIGCONT);
  await_state(WCONTINUED | WEXITED);
}

void Process::await_state(int states) const {
  await_child([&] {
    siginfo_t found{};
    const int result = ::waitid(P_PID, static_cast<id_t>(id_), &found, states | WNOWAIT | WNOHANG);
    return result != 0 || found.si_pid == id_;
  });
}

int Process::wait(std::chrono::minutes limit) {
  await_child([&] { return ended().has_value(); }, limit);
  return *status_;
}

std::optional<int> Process::ended() {
  int status = 0;
  if (!status_ && ::waitpid(id_, &status, WNOHANG) == id_) status_ = exit_status(status);
  return status_;
}

void run(const std::vector<std::string>& arguments, const std::string& log) {
  Process process(arguments, log);
  if (process.wait() == 0) return;
  std::ostringstream text;
  text << arguments.front() << " failed";
  for (const std::string& each : arguments) text << ' ' << each;
  text << ":\n" << std::ifstream(log).rdbuf();
  throw std::runtime_error(text.str());
}

}  // namespace latchkey::tests
