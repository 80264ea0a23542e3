// `latchkey run` as a child of a worker, with pipes to its command.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "chaos/worker/shared_state.hpp"
#include "core/file_descriptor.hpp"

namespace latchkey::chaos {

/// The tool and its command have stdin and stdout in common: the ends of two pipes. The destructor
/// kills the tool, and the kernel the command with it, as both do when the worker's thread ends.
class ToolProcess {
 public:
  /// `state` names the tool until it is waited for, so that its id is nobody else's. `threadless`:
  /// the tool can make no thread. Throws std::system_error if this process lacks what a child
  /// needs.
  ToolProcess(ToolState& state, const std::vector<std::string>& words, bool threadless);
  ToolProcess(const ToolProcess&) = delete;
  ToolProcess& operator=(const ToolProcess&) = delete;
  ~ToolProcess();

  [[nodiscard]] pid_t id() const noexcept { return id_; }
  /// The descriptor from which the command's output is read.
  [[nodiscard]] int reports() const noexcept { return reports_.get(); }
  void close_stdin() noexcept { orders_.reset(); }
  void signal(int number) const noexcept;

  /// Call it once reports() is at its end, which shows that the tool has ended. Returns its exit
  /// status, or 128 plus the number of the signal that ended it.
  int wait();

 private:
  ToolState& state_;
  pid_t id_ = -1;
  detail::FileDescriptor orders_, reports_;
};

}  // namespace latchkey::chaos
