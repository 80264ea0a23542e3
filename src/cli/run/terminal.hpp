// The controlling terminal: which process group is in its foreground.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <optional>

namespace latchkey::cli {

/// Lends the terminal's foreground to a child and takes it back, as a shell does for its jobs.
/// Does nothing without a terminal on stdin, or when this process is not in its foreground.
/// SIGTTOU must be blocked.
class Terminal {
 public:
  Terminal() noexcept;

  /// This process was in the foreground when the object was made, or has been put there since.
  [[nodiscard]] bool in_foreground() const noexcept;
  void give_to(pid_t group) const noexcept;
  /// Also sets the modes back that a child which was killed may have left behind.
  void take_back(bool restore_modes) const noexcept;

 private:
  std::optional<termios> modes_;
};

}  // namespace latchkey::cli
