// `latchkey top --once`: one table on stdout.
// SPDX-License-Identifier: BSL-1.0
#include "cli/top/top.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <vector>

#include "cli/list/scan.hpp"
#include "cli/output.hpp"
#include "cli/top/observed_locks.hpp"
#include "cli/top/sampler.hpp"
#include "cli/top/top_view.hpp"

namespace latchkey::inline v1::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// How wide a table is that goes to a file.
constexpr std::size_t columns_of_a_file = 132;

std::size_t columns() noexcept {
  winsize window{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
  return known ? window.ws_col : columns_of_a_file;
}

void print_rows(const TopOptions& options, std::span<const LockRow> rows) {
  if (!options.json) {
    write_out(table_text(rows, columns()));
    return;
  }
  for (const LockRow& row : rows) write_out(row_json(row));
}

/// Queries the locks in the order in which they would be shown, as far as that is known.
void query_rows(const TopOptions& options, Sampler& sampler, ObservedLocks& locks) {
  std::vector<std::string> keys;
  RowOrder order = options.order;
  order.filter.clear();  // it may match a holder, which is not known yet
  for (const LockRow& row : locks.rows(order, SteadyClock::now())) keys.push_back(row.key);
  const bool needs_all = order.key == SortKey::left || !options.order.filter.empty();
  if (!needs_all) keys.resize(std::min(keys.size(), options.rows));
  std::span<const std::string> rest = keys;
  while (!rest.empty()) {
    const std::size_t now = std::min(rest.size(), sampler.inspections(SteadyClock::now()));
    if (now == 0) {
      std::this_thread::sleep_until(sampler.inspections_due());
      continue;
    }
    Sampler::Sample sample;
    sampler.query_state(sample, rest.first(now));
    locks.inspected(sample.infos, SteadyClock::now());
    rest = rest.subspan(now);
  }
}

}  // namespace

int print_top(const TopOptions& options) {
  Sampler sampler(connect(choose_place(options.connection)), options);
  ObservedLocks locks;
  ProgressLine progress;
  Sampler::Sample sample;
  sampler.query_keys(sample, SteadyClock::now());
  if (sample.awaited) locks.awaited(*sample.awaited);
  locks.found(sample.found);
  while (!sample.scan_ended) {
    progress.show(sample.progress);
    std::this_thread::sleep_until(sampler.scan_due());
    sample.found.clear();
    sampler.continue_scan(sample, SteadyClock::now());
    locks.found(sample.found);
  }
  query_rows(options, sampler, locks);
  progress.clear();
  std::vector<LockRow> rows = locks.rows(options.order, SteadyClock::now());
  rows.resize(std::min(rows.size(), options.rows));
  print_rows(options, rows);
  if (!sample.scan_complete) {
    print_message("there may be more locks: " + sample.progress +
                  "; expected --all to scan the rest, or a larger --limit");
  }
  return exit_code::success;
}

}  // namespace latchkey::inline v1::cli
