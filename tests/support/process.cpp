// Other programs, run by tests.
#include "support/process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

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

int status_of(int told) { return WIFSIGNALED(told) ? 128 + WTERMSIG(told) : WEXITSTATUS(told); }

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const std::string& log) {
  std::vector<char*> pointers;
  for (const std::string& each : arguments) pointers.push_back(const_cast<char*>(each.c_str()));
  pointers.push_back(nullptr);
  const pid_t parent = ::getpid();
  id_ = ::fork();
  if (id_ == -1) throw std::runtime_error("cannot start " + arguments.front());
  if (id_ == 0) become(pointers.data(), log.c_str(), parent);
}

Process::~Process() {
  if (ended()) return;
  signal(SIGKILL);
  wait();
}

void Process::signal(int number) const {
  if (!status_) ::kill(id_, number);
}

void Process::stop() const {
  signal(SIGSTOP);
  siginfo_t told{};
  ::waitid(P_PID, static_cast<id_t>(id_), &told, WSTOPPED | WEXITED | WNOWAIT);
}

void Process::resume() const {
  signal(SIGCONT);
  siginfo_t told{};
  ::waitid(P_PID, static_cast<id_t>(id_), &told, WCONTINUED | WEXITED | WNOWAIT);
}

int Process::wait() {
  int told = 0;
  if (!status_ && ::waitpid(id_, &told, 0) == id_) status_ = status_of(told);
  return status_.value_or(-1);
}

std::optional<int> Process::ended() {
  int told = 0;
  if (!status_ && ::waitpid(id_, &told, WNOHANG) == id_) status_ = status_of(told);
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
