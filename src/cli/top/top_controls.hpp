// The keystrokes of the user of `latchkey top`.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/top/lock_row.hpp"

namespace latchkey::inline v1::cli {

/// Interprets keys. Escape sequences may arrive in pieces.
class TopControls {
 public:
  explicit TopControls(RowOrder order) : order_(std::move(order)) {}

  /// `page`: how many rows the screen has.
  void type(std::string_view bytes, std::size_t page);
  /// There are only so many rows, so that a screen beyond them would be empty.
  void limit_rows(std::size_t rows) noexcept;

  [[nodiscard]] const RowOrder& order() const noexcept { return order_; }
  [[nodiscard]] bool quits() const noexcept { return quits_; }
  [[nodiscard]] bool paused() const noexcept { return paused_; }
  [[nodiscard]] bool edits_filter() const noexcept { return edits_filter_; }
  /// Whether the details of the first row are shown.
  [[nodiscard]] bool shows_details() const noexcept { return shows_details_; }
  /// The first row shown.
  [[nodiscard]] std::size_t first() const noexcept { return first_; }

 private:
  void press(char key);
  void edit_filter(char key);
  /// Returns whether `sequence_` is complete.
  bool end_sequence(std::size_t page);

  RowOrder order_;
  bool quits_ = false;
  bool paused_ = false;
  bool edits_filter_ = false;
  bool shows_details_ = false;
  std::size_t first_ = 0;
  std::string sequence_;  ///< an escape sequence that is not complete
};

}  // namespace latchkey::inline v1::cli
