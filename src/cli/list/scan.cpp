// One scan of a backend's keys for locks, page by page, within a limit.
// SPDX-License-Identifier: BSL-1.0
#include "cli/list/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace latchkey::inline v1::cli {

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

}  // namespace latchkey::inline v1::cli
