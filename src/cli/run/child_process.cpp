// The command that runs under the lock.
// SPDX-License-Identifier: BSL-1.0
#include "cli/run/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/output.hpp"
#include "core/file_descriptor.hpp"

namespace latchkey::inline v1::cli {
namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

struct Image {
  char* const* arguments;
  char* const* environment;
};

/// Runs in the child. Only system calls: other threads of the parent may have held any mutex.
[[noreturn]] void become(const Image& image, const SignalInbox& signals, bool foreground,
                         pid_t parent, int errors) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(exit_code::internal);
  ::setpgid(0, 0);
  if (foreground) ::tcsetpgrp(STDIN_FILENO, ::getpid());
  signals.restore();
  ::execvpe(image.arguments[0], image.arguments, image.environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(errors, &error, sizeof error);
  ::_exit(exit_code::not_found);
}

/// A command line in quotes is one word, which no program has for its name.
std::string advice(const std::vector<std::string>& arguments, int error) {
  const std::string& program = arguments.front();
  if (error != ENOENT || arguments.size() > 1 || program.find(' ') == std::string::npos) return {};
  return "; it is one word, and no shell reads it: expected -- " + program + ", or -- sh -c '" +
         program + "'";
}

}  // namespace

ChildProcess::ChildProcess(const Command& command, const SignalInbox& signals, bool foreground) {
  const std::string& program = command.arguments.front();
  const auto fail = [&](int error) {
    return StartFailure{
        "cannot run '" + program + "': " + std::strerror(error) + advice(command.arguments, error),
        error == ENOENT ? exit_code::not_found : exit_code::not_executable};
  };
  const std::vector<char*> arguments = pointers_to(command.arguments);
  const std::vector<char*> environment = pointers_to(command.environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) == -1) throw fail(errno);
  const detail::FileDescriptor errors(ends[0]);
  detail::FileDescriptor child_errors(ends[1]);
  const pid_t parent = ::getpid();
  // Not fork(): its handlers would lock mutexes of the library's threads.
  id_ = ::_Fork();
  if (id_ == -1) throw fail(errno);
  if (id_ == 0) {
    become({arguments.data(), environment.data()}, signals, foreground, parent, ends[1]);
  }
  ::setpgid(id_, id_);  // parent and child both do it, because either may be first
  child_errors.reset();
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(errors.get(), &error, sizeof error);
  } while (got == -1 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof error)) return;  // closed by a successful exec
  ::waitpid(id_, nullptr, 0);
  throw fail(error);
}

void ChildProcess::signal(int number) const noexcept { ::kill(-id_, number); }

}  // namespace latchkey::inline v1::cli
