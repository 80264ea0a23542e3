// The descendants of this process.
// SPDX-License-Identifier: BSL-1.0
#include "cli/run/descendants.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/file_descriptor.hpp"

namespace latchkey::inline v1::cli {
namespace {

struct ProcessState {
  bool alive = false;
  pid_t parent = 0;
  unsigned long long started = 0;
};

/// Parses /proc/PID/stat: "pid (name) state ppid ...". The name may contain blanks and parentheses.
ProcessState parse_state(std::string_view text) {
  const std::size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string_view::npos) return {};
  char state = 0;
  int parent = 0;
  long threads = 0;
  unsigned long long started = 0;
  const int found = std::sscanf(text.data() + end_of_name + 1,
                                " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
                                "%*d %ld %*d %llu",
                                &state, &parent, &threads, &started);
  if (found != 4) return {};
  // Z is the state of the main thread. If that has ended before others, they are counted with it.
  const bool ended = state == 'X' || (state == 'Z' && threads <= 1);
  return {!ended, parent, started};
}

/// Not alive if there is no such process. No value: there is no descriptor to read it with.
std::optional<ProcessState> state_of(pid_t process) {
  const std::string name = "/proc/" + std::to_string(process) + "/stat";
  const detail::FileDescriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() && (errno == EMFILE || errno == ENFILE)) return std::nullopt;
  std::array<char, 1024> text{};  // longer than the longest name and all numbers
  if (!file.valid() || ::read(file.get(), text.data(), text.size() - 1) <= 0) return ProcessState{};
  return parse_state(text.data());
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

void adopt_orphans() noexcept { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::optional<std::vector<Descendant>> descendants() {
  std::unordered_multimap<pid_t, Descendant> children;
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir("/proc"));
  if (!directory) return std::nullopt;
  while (const dirent* const entry = ::readdir(directory.get())) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    const pid_t process = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    const std::optional<ProcessState> state = state_of(process);
    if (!state) return std::nullopt;
    if (state->alive) children.emplace(state->parent, Descendant{process, state->started});
  }
  std::vector<Descendant> found;
  const auto add_children_of = [&](pid_t parent) {
    const auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
  };
  add_children_of(::getpid());
  for (std::size_t next = 0; next < found.size(); ++next) add_children_of(found[next].id);
  return found;
}

void send_signal(const Descendant& to, int number) noexcept {
  // The descriptor stands for the process that has the id now, which the time of start identifies.
  // A kernel before 5.3, and some sandboxes, have no such descriptors.
  const detail::FileDescriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, to.id, 0)));
  if (!handle.valid() && errno == ESRCH) return;
  const std::optional<ProcessState> now = state_of(to.id);
  if (now && now->started != to.started) return;
  if (handle.valid()) {
    ::syscall(SYS_pidfd_send_signal, handle.get(), number, nullptr, 0);
  } else {
    ::kill(to.id, number);
  }
}

}  // namespace latchkey::inline v1::cli
