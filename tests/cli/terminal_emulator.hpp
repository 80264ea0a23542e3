// A terminal emulator in which a test runs the tool, and looks at its screen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/tool.hpp"
#include "support/process.hpp"

namespace latchkey::tests {

/// One window of tmux with a server of its own. The program is a script for /bin/sh.
class TerminalEmulator {
 public:
  TerminalEmulator(const TemporaryFolder& folder, std::size_t columns, std::size_t lines,
                   const std::string& script);
  TerminalEmulator(const TerminalEmulator&) = delete;
  TerminalEmulator& operator=(const TerminalEmulator&) = delete;
  ~TerminalEmulator();

  /// The lines of the screen, without spaces at their ends.
  [[nodiscard]] std::vector<std::string> screen() const;
  [[nodiscard]] std::string text() const;
  /// Waits until the screen contains `part`, or no longer contains it.
  void await_text(const std::string& part) const;
  void await_no_text(const std::string& part) const;

  void resize(std::size_t columns, std::size_t lines) const;
  /// Each is a key with a name of tmux, such as "q", "Enter" or "C-c".
  void press(const std::vector<std::string>& keys) const;
  /// Literally.
  void type(const std::string& text) const;

 private:
  std::string tmux(std::vector<std::string> words) const;

  const TemporaryFolder& folder_;
  const std::string socket_;  ///< not that of another window, whose server may just end
};

}  // namespace latchkey::tests
