// The screen of `latchkey top` as lines of text.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cli/top/lock_row.hpp"

namespace latchkey::inline v1::cli {

struct Size {
  std::size_t columns = 80;
  std::size_t lines = 24;
};

/// The content of the screen, apart from its size.
struct TopView {
  std::string backend{};
  std::chrono::milliseconds interval{};
  bool paused = false;
  std::size_t locks = 0;
  std::size_t awaited_keys = 0;
  std::uint64_t waiters = 0;
  bool knows_waiters = true;
  std::string progress{};
  std::string error{};  ///< the error of the last sample; empty: none
  RowOrder order{};
  bool edits_filter = false;
  bool shows_details = false;  ///< the details of the first row replace the table
  std::size_t first = 0;       ///< the first row shown
  std::span<const LockRow> rows{};
};

/// One line for each line of the screen, each at most as wide as it. The column heads are in
/// reverse video.
[[nodiscard]] std::vector<std::string> screen_lines(const TopView& view, Size size);
/// How many rows fit.
[[nodiscard]] std::size_t rows_on_screen(Size size) noexcept;
/// The column heads and all rows, for a pipe or a file.
[[nodiscard]] std::string table_text(std::span<const LockRow> rows, std::size_t columns);

}  // namespace latchkey::inline v1::cli
