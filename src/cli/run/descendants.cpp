// The descendants of this process.
// SPDX-License-Identifier: BSL-1.0
#include "cli/run/descendants.hpp"

#include <dirent.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <unordered_map>

namespace latchkey::inline v1::cli {
namespace {

/// The parent of a living process; -1 if the process has ended.
pid_t parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return -1;
  // "pid (name) state ppid ...": the name may contain blanks and parentheses.
  const std::size_t end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return -1;
  char state = 0;
  int parent = -1;
  if (std::sscanf(line.c_str() + end_of_name + 1, " %c %d", &state, &parent) != 2) return -1;
  return state == 'Z' || state == 'X' ? -1 : parent;
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

void adopt_orphans() noexcept { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<pid_t> descendants() {
  std::unordered_multimap<pid_t, pid_t> children;
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir("/proc"));
  if (!directory) return {};
  while (const dirent* const entry = ::readdir(directory.get())) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    const pid_t process = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    const pid_t parent = parent_of(process);
    if (parent > 0) children.emplace(parent, process);
  }
  std::vector<pid_t> found;
  const auto add_children_of = [&](pid_t parent) {
    const auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
  };
  add_children_of(::getpid());
  for (std::size_t next = 0; next < found.size(); ++next) add_children_of(found[next]);
  return found;
}

}  // namespace latchkey::inline v1::cli
