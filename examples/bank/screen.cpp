// Detects once what the terminal supports, and draws bars and lines accordingly.
#include "screen.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace demo {
namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Containers often have no locale, but their terminal supports UTF-8.
bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = environment(name);
    if (locale.empty()) continue;
    return locale.ends_with("UTF-8") || locale.ends_with("utf8") || locale.ends_with("utf-8");
  }
  return true;
}

}  // namespace

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t place = text.size(); place > 3; place -= 3) text.insert(place - 3, ",");
  return text;
}

Screen::Screen() : utf8_(speaks_utf8()) {
  terminal_ = isatty(STDOUT_FILENO) != 0 && environment("TERM") != "dumb";
  colours_ = terminal_ && environment("NO_COLOR").empty();
}

void Screen::print(std::string_view text) const {
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

std::string Screen::ink(Ink ink, std::string_view text) const {
  if (!colours_) return std::string(text);
  constexpr std::array codes{"1", "2", "36", "1;32", "1;31"};
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<std::size_t>(ink)], text);
}

std::string Screen::bar(double share, int width) const {
  const double full = std::clamp(share, 0.0, 1.0) * width;
  if (!utf8_) {
    const auto cells = static_cast<int>(std::lround(full));
    return ink(Ink::bar, fmt::format("{:<{}}", fmt::format("{:#<{}}", "", cells), width));
  }
  constexpr std::array<std::string_view, 8> parts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  // A value above zero gets at least one eighth.
  const auto eighths = static_cast<int>(share > 0 ? std::max(1L, std::lround(full * 8)) : 0L);
  std::string cells;
  for (int i = 0; i < eighths / 8; ++i) cells += "█";
  cells += parts[static_cast<std::size_t>(eighths % 8)];
  const int used = (eighths + 7) / 8;
  return ink(Ink::bar, cells) + std::string(static_cast<std::size_t>(width - used), ' ');
}

std::string Screen::mark(bool good) const {
  if (!utf8_) return ink(good ? Ink::good : Ink::bad, good ? "OK" : "!!");
  return ink(good ? Ink::good : Ink::bad, good ? "✓" : "✗");
}

std::string Screen::time(std::chrono::nanoseconds time) const {
  const double seconds = std::chrono::duration<double>(time).count();
  const auto shown = [](double value, std::string_view unit) {
    const int decimals = value < 9.95 ? 1 : 0;
    const std::string number = fmt::format("{:.{}f}", value, decimals);
    const bool whole = number.ends_with(".0");
    return fmt::format("{} {}", whole ? number.substr(0, number.size() - 2) : number, unit);
  };
  if (seconds < 0.9995e-3) return shown(seconds * 1e6, utf8_ ? "µs" : "us");
  if (seconds < 0.9995) return shown(seconds * 1e3, "ms");
  return shown(seconds, "s");
}

void Screen::progress(double share, std::chrono::duration<double> passed,
                      std::uint64_t operations) {
  const std::string text =
      fmt::format("{:>5.1f} s {:>12} operations", passed.count(), with_commas(operations));
  if (terminal_) {
    fmt::print("\r  {}{}\x1b[K", bar(share, 30), text);
  } else if (const auto second = static_cast<std::int64_t>(passed.count()); second > told_) {
    told_ = second;
    fmt::print("  {}\n", text);
  }
  std::fflush(stdout);
}

void Screen::progress_done() {
  if (terminal_) fmt::print("\r\x1b[K");
  std::fflush(stdout);
  told_ = 0;
}

}  // namespace demo
