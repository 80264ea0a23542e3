// The screen of `latchkey top` as lines of text.
// SPDX-License-Identifier: BSL-1.0
#include "cli/top/top_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace latchkey::inline v1::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t head_lines = 4;
constexpr std::size_t foot_lines = 1;
/// TYPE, WAIT, CONT, HELD and LEFT with the spaces after them.
constexpr std::size_t fixed_columns = 10 + 6 + 5 + 8 + 8;
constexpr std::size_t asked_columns = 7;
constexpr std::string_view keys_help =
    "q quit  p pause  / filter  Enter details  sort: c w h l n, r reverse";
constexpr std::string_view details_help = "Enter back  q quit  p pause  arrows: the next lock";

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

std::string asked_text(const LockRow& row) {
  return row.revoked ? short_duration(*row.revoked) : "-";
}

std::string more_text(const LockRow& row) {
  return row.holders > 1 ? fmt::format(" and {} more", row.holders - 1) : std::string();
}

/// If a holder's announcement, "Bank::deposit (bank.cpp:12) on web-3, process 7 (bank), since
/// 2026-11-27T12:15:00Z", is too wide, the host and the process are shown alone; the end of a long
/// host is left out.
std::string holder_text(const LockRow& row, std::size_t width) {
  const std::string more = more_text(row);
  constexpr std::string_view before_host = "on ", before_process = ", process ";
  const std::string_view all = row.holder;
  const std::size_t last = all.rfind(" on ");
  const std::size_t host = last == std::string_view::npos ? 0 : last + 1;
  if (all.size() + more.size() <= width || !all.substr(host).starts_with(before_host)) {
    return row.holder + more;
  }
  const std::string_view place = all.substr(host + before_host.size());
  const std::size_t process = place.find(before_process);
  if (process == std::string_view::npos) return std::string(place) + more;
  const std::size_t end = std::min(
      place.find_first_not_of("0123456789", process + before_process.size()), place.size());
  const std::string tail = std::string(place.substr(process, end - process)) + more;
  if (process + tail.size() <= width || width <= tail.size()) {
    return std::string(place.substr(0, process)) + tail;
  }
  return std::string(place.substr(0, width - tail.size() - 1)) + '+' + tail;
}

/// The columns of a table of these rows. ASKED, which is seldom needed, is there if a row has it.
class Columns {
 public:
  Columns(std::span<const LockRow> rows, std::size_t width)
      : all(width),
        asked(
            std::ranges::any_of(rows, [](const LockRow& row) { return row.revoked.has_value(); })) {
    const std::size_t fixed = fixed_columns + (asked ? asked_columns : 0);
    const std::size_t rest = width > fixed + 20 ? width - fixed : 20;
    const std::size_t first = std::clamp<std::size_t>(rest * 2 / 5, 10, 60);
    key = first - 1;
    holder = rest - first;
  }

  std::size_t all;
  bool asked;
  std::size_t key = 0, holder = 0;
};

/// A line in exactly the width of the screen.
std::string table_line(std::string_view key, std::string_view type, std::string_view waiters,
                       std::string_view contention, std::string_view held, std::string_view left,
                       std::string_view asked, std::string_view holder, const Columns& columns) {
  const std::string before_holder = columns.asked ? fmt::format("{:>6} ", asked) : std::string();
  return cell(
      fmt::format("{} {:<9} {:>5} {:>4} {:>7} {:>7} {}{}", cell(key, columns.key), type, waiters,
                  contention, held, left, before_holder, cell(holder, columns.holder)),
      columns.all);
}

std::string column_heads(const Columns& columns) {
  return table_line("KEY", "TYPE", "WAIT", "CONT", "HELD", "LEFT", "ASKED", "HOLDER", columns);
}

std::string row_line(const LockRow& row, const Columns& columns) {
  return table_line(row.key, row.type.empty() ? "-" : row.type, std::to_string(row.waiters),
                    fmt::format("{}%", row.contention), held_text(row), left_text(row),
                    asked_text(row), holder_text(row, columns.holder), columns);
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
  if (!view.error.empty()) return view.error;
  return std::string(view.shows_details ? details_help : keys_help);
}

/// All that is known of the first row, in lines that wrap.
std::vector<std::string> details(const LockRow& row, std::size_t columns) {
  const std::pair<std::string_view, std::string> facts[] = {
      {"key", row.key},
      {"type", row.type.empty() ? "-" : row.type},
      {"waiters", std::to_string(row.waiters)},
      {"contention", fmt::format("{}% of the last samples", row.contention)},
      {"held", held_text(row)},
      {"lease left", left_text(row)},
      {"asked", row.revoked ? asked_text(row) + " ago to release it" : "-"},
      {"holder", (row.holder.empty() ? "-" : row.holder) + more_text(row)}};
  constexpr std::size_t name_columns = 12;
  const std::size_t width = columns > name_columns + 10 ? columns - name_columns : 10;
  std::vector<std::string> lines;
  for (const auto& [name, text] : facts) {
    std::string_view rest = text;
    std::string head(name);
    do {
      lines.push_back(cell(cell(head, name_columns) + cell(rest.substr(0, width), width), columns));
      rest.remove_prefix(std::min(width, rest.size()));
      head.clear();
    } while (!rest.empty());
  }
  return lines;
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
  const std::size_t rows = rows_on_screen(size);
  const std::size_t end = std::min(view.rows.size(), view.first + rows);
  const std::size_t first = std::min(view.first, end);
  const Columns columns(std::span(view.rows).subspan(first, end - first), size.columns);
  lines.push_back("\x1b[7m" + column_heads(columns) + "\x1b[0m");
  if (view.shows_details && view.first < end) {
    for (std::string& line : details(view.rows[view.first], size.columns)) {
      if (lines.size() < head_lines + rows) lines.push_back(std::move(line));
    }
  } else {
    for (std::size_t index = view.first; index < end; ++index) {
      lines.push_back(row_line(view.rows[index], columns));
    }
  }
  while (lines.size() + foot_lines < size.lines) lines.emplace_back(size.columns, ' ');
  add(foot(view));
  lines.resize(std::min(lines.size(), size.lines));
  return lines;
}

std::string table_text(std::span<const LockRow> rows, std::size_t width) {
  const Columns columns(rows, width);
  std::string text = column_heads(columns);
  for (const LockRow& row : rows) text += '\n' + row_line(row, columns);
  return text + '\n';
}

}  // namespace latchkey::inline v1::cli
