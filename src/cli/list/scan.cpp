// A scan of the keyspace: its options, its budget, and the line that shows its progress.
// SPDX-License-Identifier: BSL-1.0
#include "cli/list/scan.hpp"

#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace latchkey::inline v1::cli {
namespace {

using Seconds = std::chrono::duration<double>;

}  // namespace

Scan::Scan(Locks locks, std::string pattern, std::uint64_t most)
    : locks_(std::move(locks)), pattern_(std::move(pattern)), most_(most) {}

std::vector<std::string> Scan::next(std::uint64_t keys) {
  const std::uint64_t budget = std::min({keys, page_size, most_ - examined_});
  ListPage page = locks_.list_page(pattern_, cursor_, static_cast<std::uint32_t>(budget));
  cursor_ = page.next;
  complete_ = cursor_ == ListCursor{};
  examined_ += page.examined;
  total_ = page.total;
  return std::move(page.names);
}

std::string Scan::progress() const {
  if (complete_) return fmt::format("scanned all {} keys", total_);
  if (total_ == 0) return fmt::format("scanned {} keys", examined_);
  // Both numbers are estimates, so the last percent is that of the last page.
  const std::uint64_t percent = std::min<std::uint64_t>(99, examined_ * 100 / total_);
  return fmt::format("scanned {}% of about {} keys", percent, total_);
}

Pacer::Pacer(std::uint64_t rate, std::chrono::milliseconds burst, TimePoint now)
    : rate_(static_cast<double>(rate)), units_(rate_ * Seconds(burst).count()), at_(now) {}

std::uint64_t Pacer::available(TimePoint now) {
  const double earned = rate_ * Seconds(now - at_).count();
  units_ = std::max(units_, std::min(units_ + earned, rate_));
  at_ = now;
  return static_cast<std::uint64_t>(std::max(units_, 0.0));
}

Pacer::TimePoint Pacer::due() const {
  if (units_ >= 1) return at_;
  return at_ + std::chrono::ceil<std::chrono::milliseconds>(Seconds((1 - units_) / rate_));
}

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

void add_scan_words(CLI::App& command, ScanWords& words) {
  command.add_option("--rate", words.rate, "How many keys of the server to examine each second")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100'000'000}).description(""))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--limit", words.limit, "Stop after so many keys of the server")
      ->check(CLI::Range(std::uint64_t{1}, UINT64_MAX).description(""))
      ->type_name("N")
      ->capture_default_str();
  command.add_flag("--all", words.all, "Examine all keys, however many there are");
}

}  // namespace latchkey::inline v1::cli
