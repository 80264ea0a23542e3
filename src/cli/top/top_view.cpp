// The screen of `latchkey top` as lines of text.
// SPDX-License-Identifier: BSL-1.0
#include "cli/top/top_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace latchkey::inline v1::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t head_lines = 4;
constexpr std::size_t foot_lines = 1;
/// TYPE, WAIT, CONT, HELD and LEFT with the spaces after them.
constexpr std::size_t fixed_columns = 10 + 6 + 5 + 8 + 8;
constexpr std::string_view keys_help =
    "q quit  p pause  / filter  sort: c contention w waiters h held l left n name, r reverse";

/// The text in exactly `width` columns. Bytes that are not printable ASCII become `?`: a key may
/// contain anything, also what a terminal would obey. A text that is too long ends in `+`.
std::string cell(std::string_view text, std::size_t width) {
  std::string out;
  for (const char letter : text.substr(0, width)) {
    out += letter >= ' ' && letter <= '~' ? letter : '?';
  }
  if (text.size() > width && width > 0) out.back() = '+';
  out.resize(width, ' ');
  return out;
}

/// At most 6 characters: "350ms", "12.3s", "45m10s", "7h05m", "12d".
std::string short_duration(milliseconds length) {
  using std::chrono::seconds;
  const auto total = std::chrono::floor<seconds>(length).count();
  if (length < seconds(1)) return fmt::format("{}ms", length.count());
  if (total < 60) {
    const auto tenths = length.count() / 100;
    return fmt::format("{}.{}s", tenths / 10, tenths % 10);
  }
  if (total < 3'600) return fmt::format("{}m{:02}s", total / 60, total % 60);
  if (total < 86'400) return fmt::format("{}h{:02}m", total / 3'600, total / 60 % 60);
  return fmt::format("{}d", total / 86'400);
}

std::string held_text(const LockRow& row) {
  if (!row.held) return "-";
  return (row.held_longer ? ">" : "") + short_duration(*row.held);
}

std::string left_text(const LockRow& row) {
  if (row.endless) return "no end";
  return row.left ? short_duration(*row.left) : "-";
}

/// If a holder's announcement, "Bank::deposit (bank.cpp:12) on web-3, process 7", is too wide, the
/// host and the process are shown without the method.
std::string holder_text(const LockRow& row, std::size_t width) {
  const std::string more =
      row.holders > 1 ? fmt::format(" and {} more", row.holders - 1) : std::string();
  constexpr std::string_view before_host = "on ";
  const std::size_t last = row.holder.rfind(" on ");
  const std::size_t host = last == std::string::npos ? 0 : last + 1;
  const bool fits = row.holder.size() + more.size() <= width;
  if (fits || row.holder.compare(host, before_host.size(), before_host) != 0) {
    return row.holder + more;
  }
  return row.holder.substr(host + before_host.size()) + more;
}

struct Widths {
  std::size_t key;
  std::size_t holder;
};

Widths widths_for(std::size_t columns) {
  const std::size_t rest = columns > fixed_columns + 20 ? columns - fixed_columns : 20;
  const std::size_t key = std::clamp<std::size_t>(rest * 2 / 5, 10, 60);
  return {key - 1, rest - key};
}

/// A line in exactly the width of the screen.
std::string table_line(std::string_view key, std::string_view type, std::string_view waiters,
                       std::string_view contention, std::string_view held, std::string_view left,
                       std::string_view holder, std::size_t columns) {
  const Widths widths = widths_for(columns);
  return cell(fmt::format("{} {:<9} {:>5} {:>4} {:>7} {:>7} {}", cell(key, widths.key), type,
                          waiters, contention, held, left, cell(holder, widths.holder)),
              columns);
}

std::string column_heads(std::size_t columns) {
  return table_line("KEY", "TYPE", "WAIT", "CONT", "HELD", "LEFT", "HOLDER", columns);
}

std::string row_line(const LockRow& row, std::size_t columns) {
  return table_line(row.key, row.type.empty() ? "-" : row.type, std::to_string(row.waiters),
                    fmt::format("{}%", row.contention), held_text(row), left_text(row),
                    holder_text(row, widths_for(columns).holder), columns);
}

std::string summary(const TopView& view) {
  const std::string waiting =
      view.knows_waiters ? fmt::format("awaited: {}, waiters: {}", view.awaited_keys, view.waiters)
                         : std::string("the backend does not list who waits");
  return fmt::format("locks: {}, {}; {}", view.locks, waiting, view.progress);
}

std::string order_line(const TopView& view) {
  return fmt::format("sorted by {}{}{}", to_string(view.order.key),
                     view.order.reverse ? ", reversed" : "",
                     view.order.filter.empty() ? std::string() : "; filter: " + view.order.filter);
}

std::string foot(const TopView& view) {
  if (view.edits_filter) return "filter: " + view.order.filter + "_";
  return view.error.empty() ? std::string(keys_help) : view.error;
}

}  // namespace

std::size_t rows_on_screen(Size size) noexcept {
  return size.lines > head_lines + foot_lines ? size.lines - head_lines - foot_lines : 0;
}

std::vector<std::string> screen_lines(const TopView& view, Size size) {
  std::vector<std::string> lines;
  const auto add = [&](std::string_view text) { lines.push_back(cell(text, size.columns)); };
  add(fmt::format("latchkey top, {}: {}",
                  view.paused ? "paused" : "every " + short_duration(view.interval), view.backend));
  add(summary(view));
  add(order_line(view));
  lines.push_back("\x1b[7m" + column_heads(size.columns) + "\x1b[0m");
  const std::size_t end = std::min(view.rows.size(), view.first + rows_on_screen(size));
  for (std::size_t index = view.first; index < end; ++index) {
    lines.push_back(row_line(view.rows[index], size.columns));
  }
  while (lines.size() + foot_lines < size.lines) lines.emplace_back(size.columns, ' ');
  add(foot(view));
  lines.resize(std::min(lines.size(), size.lines));
  return lines;
}

std::string table_text(std::span<const LockRow> rows, std::size_t columns) {
  std::string text = column_heads(columns);
  for (const LockRow& row : rows) text += '\n' + row_line(row, columns);
  return text + '\n';
}

}  // namespace latchkey::inline v1::cli
