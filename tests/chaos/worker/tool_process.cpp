// `latchkey run` as a child of a worker.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/worker/tool_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace latchkey::chaos {
namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == -1) {
      throw std::system_error(errno, std::generic_category(), "pipe");
    }
    from = detail::FileDescriptor(ends[0]);
    to = detail::FileDescriptor(ends[1]);
  }
  detail::FileDescriptor from, to;
};

/// A fault that leaves the worker no descriptor is not one of the tool: no program starts then.
void lift_limit_of_descriptors() noexcept {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// The stacks of threads are as large as this limit is when the program starts.
void forbid_threads() noexcept {
  rlimit limit{};
  ::getrlimit(RLIMIT_STACK, &limit);
  limit.rlim_cur = rlim_t{1} << 50;
  if (::setrlimit(RLIMIT_STACK, &limit) != 0) ::_exit(126);
}

/// Runs in the child: other threads of the worker may have held any mutex.
[[noreturn]] void become(char* const* words, int stdin_end, int stdout_end, pid_t parent,
                         bool threadless) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(126);
  ::dup2(stdin_end, STDIN_FILENO);
  ::dup2(stdout_end, STDOUT_FILENO);
  lift_limit_of_descriptors();
  if (threadless) forbid_threads();
  ::execv(words[0], words);
  ::_exit(127);
}

}  // namespace

ToolProcess::ToolProcess(ToolState& state, const std::vector<std::string>& words, bool threadless)
    : state_(state) {
  std::vector<char*> pointers;
  for (const std::string& each : words) pointers.push_back(const_cast<char*>(each.c_str()));
  pointers.push_back(nullptr);
  Pipe orders, reports;
  const pid_t parent = ::getpid();
  id_ = ::_Fork();
  if (id_ == -1) throw std::system_error(errno, std::generic_category(), "fork");
  if (id_ == 0) become(pointers.data(), orders.from.get(), reports.to.get(), parent, threadless);
  state_.process = id_;
  orders_ = std::move(orders.to);
  reports_ = std::move(reports.from);
}

ToolProcess::~ToolProcess() {
  if (id_ == -1) return;
  signal(SIGKILL);
  wait();
}

void ToolProcess::signal(int number) const noexcept {
  if (id_ != -1) ::kill(id_, number);
}

int ToolProcess::wait() {
  state_.holds = false;
  state_.process = 0;
  int status = 0;
  ::waitpid(id_, &status, 0);
  id_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace latchkey::chaos
