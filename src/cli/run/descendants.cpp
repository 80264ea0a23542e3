// The descendants of this process.
// SPDX-License-Identifier: BSL-1.0
#include "cli/run/descendants.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/file_descriptor.hpp"

namespace latchkey::inline v1::cli {
namespace {

/// The parent of a living process; -1 if the process has ended. No value: there is no descriptor
/// to read it with.
std::optional<pid_t> parent_of(pid_t process) {
  const std::string name = "/proc/" + std::to_string(process) + "/stat";
  const detail::FileDescriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() && (errno == EMFILE || errno == ENFILE)) return std::nullopt;
  std::array<char, 512> text{};  // long enough for what is read of it
  if (!file.valid() || ::read(file.get(), text.data(), text.size() - 1) <= 0) return -1;
  // "pid (name) state ppid ...": the name may contain blanks and parentheses.
  const std::size_t end_of_name = std::string_view(text.data()).rfind(')');
  if (end_of_name == std::string_view::npos) return -1;
  char state = 0;
  int parent = -1;
  if (std::sscanf(text.data() + end_of_name + 1, " %c %d", &state, &parent) != 2) return -1;
  return state == 'Z' || state == 'X' ? -1 : parent;
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

void adopt_orphans() noexcept { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::optional<std::vector<pid_t>> descendants() {
  std::unordered_multimap<pid_t, pid_t> children;
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir("/proc"));
  if (!directory) return std::nullopt;
  while (const dirent* const entry = ::readdir(directory.get())) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    const pid_t process = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    const std::optional<pid_t> parent = parent_of(process);
    if (!parent) return std::nullopt;
    if (*parent > 0) children.emplace(*parent, process);
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
