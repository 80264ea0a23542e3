// The terminal while a program uses all of it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <termios.h>

#include <string>
#include <vector>

#include "cli/top/top_view.hpp"

namespace latchkey::inline v1::cli {

/// Shows the alternate screen without echo and cursor, and restores the terminal when it is
/// destroyed or suspended.
class FullScreen {
 public:
  /// Throws UsageError unless stdin and stdout are terminals.
  FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;
  ~FullScreen() { leave(); }

  void enter();
  void leave() noexcept;
  [[nodiscard]] Size size() const noexcept;
  /// Clears the screen; needed after its size has changed.
  void clear() noexcept;
  /// As many lines as the screen has, each as wide as it.
  void draw(const std::vector<std::string>& lines);
  /// The bytes that were typed; empty: none. Does not wait.
  [[nodiscard]] std::string typed() const;

 private:
  termios modes_{};
  bool entered_ = false;
};

}  // namespace latchkey::inline v1::cli
