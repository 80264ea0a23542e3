// The keystrokes of the user of `latchkey top`.
// SPDX-License-Identifier: BSL-1.0
#include "cli/top/top_controls.hpp"

#include <algorithm>

namespace latchkey::inline v1::cli {
namespace {

constexpr char escape = '\x1b';
constexpr char backspace = '\b';
constexpr char erase = '\x7f';

}  // namespace

void TopControls::type(std::string_view bytes, std::size_t page) {
  for (const char key : bytes) {
    if (!sequence_.empty() || key == escape) {
      sequence_ += key;
      if (end_sequence(page)) sequence_.clear();
    } else if (edits_filter_) {
      edit_filter(key);
    } else {
      press(key);
    }
  }
  if (sequence_ == std::string_view(&escape, 1)) sequence_.clear();  // the key itself
}

// CSI sequences: ESC [, parameters, and a final letter or ~.
bool TopControls::end_sequence(std::size_t page) {
  if (sequence_.size() < 3)
    return sequence_.size() == 2 && sequence_[1] != '[' && sequence_[1] != 'O';
  const char last = sequence_.back();
  if (last < '@' || last > '~') return false;
  const std::size_t rows = std::max<std::size_t>(1, page);
  const std::string_view what = std::string_view(sequence_).substr(2);
  if (what == "A") first_ -= std::min<std::size_t>(first_, 1);
  if (what == "B") first_ += 1;
  if (what == "5~") first_ -= std::min(first_, rows);
  if (what == "6~") first_ += rows;
  return true;
}

void TopControls::press(char key) {
  const auto sort_by = [this](SortKey column) { order_.key = column; };
  switch (key) {
    case 'q': quits_ = true; break;
    case 'p': paused_ = !paused_; return;
    case '\r':
    case '\n': shows_details_ = !shows_details_; return;
    case '/': edits_filter_ = true; break;
    case 'r': order_.reverse = !order_.reverse; break;
    case 'c': sort_by(SortKey::contention); break;
    case 'w': sort_by(SortKey::waiters); break;
    case 'h': sort_by(SortKey::held); break;
    case 'l': sort_by(SortKey::left); break;
    case 'n': sort_by(SortKey::name); break;
    default: return;
  }
  first_ = 0;
}

void TopControls::edit_filter(char key) {
  if (key == '\r' || key == '\n') {
    edits_filter_ = false;
  } else if (key == erase || key == backspace) {
    if (!order_.filter.empty()) order_.filter.pop_back();
  } else if (key >= ' ') {
    order_.filter += key;
  }
  first_ = 0;
}

void TopControls::limit_rows(std::size_t rows) noexcept {
  first_ = std::min(first_, rows == 0 ? 0 : rows - 1);
}

}  // namespace latchkey::inline v1::cli
