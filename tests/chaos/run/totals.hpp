// The figures of a run, as a table of Markdown.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "chaos/history.hpp"

namespace latchkey::chaos {

class Totals {
 public:
  void add(const History& history);
  void note_checked_history() noexcept { ++checked_; }
  [[nodiscard]] std::string table() const;
  [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }

 private:
  std::uint64_t rounds_ = 0, calls_ = 0, granted_ = 0, busy_ = 0, unavailable_ = 0, refused_ = 0;
  std::uint64_t no_memory_ = 0, operations_ = 0;
  std::uint64_t killed_ = 0, told_ = 0, unconfirmed_ = 0, faults_ = 0, stalls_ = 0;
  std::uint64_t losses_ = 0, checked_ = 0, limited_ = 0, asked_ = 0, reached_ = 0;
  Nanos time_ = 0, longest_wait_ = 0, longest_recovery_ = 0;
  std::array<std::uint64_t, fault_kinds.size()> by_kind_{};
  std::set<std::string_view> forbidden_;  ///< commands
};

}  // namespace latchkey::chaos
