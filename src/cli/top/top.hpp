// `latchkey top`: its options, the live screen, and the single table.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "cli/connection.hpp"
#include "cli/list/scan.hpp"
#include "cli/poll_events.hpp"
#include "cli/top/lock_row.hpp"

namespace latchkey::inline v1::cli {

/// The options of `latchkey top`, as values.
struct TopOptions {
  ConnectionOptions connection{};
  std::string pattern = "*";
  ScanWords scan{1'000, 100'000};
  RowOrder order{};
  std::chrono::milliseconds interval = std::chrono::seconds(2);
  std::size_t rows = 50;  ///< at most so many in a single table
  bool once = false;
  bool json = false;
};

/// Both return the exit status, and throw UsageError, BackendUnavailable, BackendRefused.
[[nodiscard]] int run_top(const TopOptions& options, const SignalInbox& signals);
/// One table, for a pipe or a file.
[[nodiscard]] int print_top(const TopOptions& options);

}  // namespace latchkey::inline v1::cli
