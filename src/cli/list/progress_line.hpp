// A line on stderr that shows progress, if stderr is a terminal.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>

namespace latchkey::inline v1::cli {

/// Shows one line at a time and removes it at the end.
class ProgressLine {
 public:
  ProgressLine() noexcept;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  void show(std::string_view text);
  /// Removes the line. Call it before anything else is printed.
  void clear() noexcept;

 private:
  bool at_terminal_;
  bool shown_ = false;
};

}  // namespace latchkey::inline v1::cli
