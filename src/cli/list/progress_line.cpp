// A line on stderr that shows progress, if stderr is a terminal.
// SPDX-License-Identifier: BSL-1.0
#include "cli/list/progress_line.hpp"

#include <unistd.h>

#include <cstdio>

namespace latchkey::inline v1::cli {

ProgressLine::ProgressLine() noexcept : at_terminal_(::isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(std::string_view text) {
  if (!at_terminal_) return;
  std::fprintf(stderr, "\r\x1b[K%.*s", static_cast<int>(text.size()), text.data());
  shown_ = true;
}

void ProgressLine::clear() noexcept {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}

}  // namespace latchkey::inline v1::cli
