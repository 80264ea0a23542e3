// The report of a day: tables of at most 80 columns.
#pragma once

#include <vector>

#include "accounts.hpp"
#include "day.hpp"
#include "ledger.hpp"
#include "screen.hpp"
#include "stopwatch.hpp"
#include "waits.hpp"

namespace demo {

/// Where clerks waited: a bar for each of the accounts with the most waiting.
void show_contention(const Screen& screen, const std::vector<Account>& accounts,
                     const Waits::Seen& waits);

/// The distribution of the waiting times.
void show_waits(const Screen& screen, const Waits::Seen& waits);

/// The duration of each method, including lock and body.
void show_methods(const Screen& screen, const Stopwatch& stopwatch);

/// Further facts beside the tables.
void show_facts(const Screen& screen, const std::vector<Account>& accounts,
                const Waits::Seen& waits, const Day& day);

/// The books at the end of a day.
struct Books {
  Money opening = 0;
  Tally tally;
  Ledger::Closing closing;

  [[nodiscard]] Money expected() const { return opening + tally.paid_in - tally.paid_out; }
  [[nodiscard]] bool balanced() const {
    return expected() == closing.balances && closing.lost == 0 && tally.failed_audits == 0;
  }
};
void show_books(const Screen& screen, const Books& books);

}  // namespace demo
