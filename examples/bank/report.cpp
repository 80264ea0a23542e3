// Prints the tables of the report.
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace demo {
namespace {

double part(std::uint64_t some, std::uint64_t all) {
  return all == 0 ? 0.0 : static_cast<double>(some) / static_cast<double>(all);
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

/// Table headings are dimmed.
void show_headings(const Screen& screen, const std::string& title, const std::string& columns) {
  screen.print("");
  screen.print("  " + screen.ink(Ink::bold, title) + screen.ink(Ink::dim, columns));
}

const Histogram& waits_at(const Waits::Seen& waits, const Account& account) {
  static const Histogram none;
  const auto found = waits.by_account.find(account.id);
  return found == waits.by_account.end() ? none : found->second;
}

std::string holder_of(const std::vector<Account>& accounts, const std::string& id) {
  const auto found = std::find_if(accounts.begin(), accounts.end(),
                                  [&](const Account& account) { return account.id == id; });
  return found == accounts.end() ? id : found->holder;
}

/// The share of calls with a noticeable wait.
double crowd(const Histogram& waits) { return part(waits.noticed(), waits.count()); }

}  // namespace

void show_contention(const Screen& screen, const std::vector<Account>& accounts,
                     const Waits::Seen& waits) {
  constexpr std::size_t most_rows = 12;
  std::vector<const Account*> order;
  for (const Account& account : accounts) order.push_back(&account);
  const auto rank = [&](const Account* account) {
    return std::pair(-crowd(waits_at(waits, *account)), account);
  };
  std::sort(order.begin(), order.end(),
            [&](const Account* one, const Account* other) { return rank(one) < rank(other); });

  show_headings(screen, "Where clerks stood in line",
                fmt::format("{:>33} {:>8} {:>8}", "waited", "calls", "longest"));
  for (std::size_t row = 0; row < std::min(most_rows, order.size()); ++row) {
    const Account& account = *order[row];
    const Histogram& here = waits_at(waits, account);
    screen.print(fmt::format("  {:<12} {:<21.21} {} {:>6} {:>8} {:>8}", account.id, account.holder,
                             screen.bar(crowd(here), 17), percent(crowd(here)),
                             with_commas(here.count()), screen.time(here.longest())));
  }
  if (order.size() > most_rows) {
    const auto rest = fmt::format("  and {} accounts with less", order.size() - most_rows);
    screen.print(screen.ink(Ink::dim, rest));
  }
}

void show_waits(const Screen& screen, const Waits::Seen& waits) {
  const Histogram& all = waits.all;
  constexpr std::size_t buckets = Histogram::bounds.size() + 1;
  std::size_t first = buckets, last = 0;
  std::uint64_t most = 1;
  for (std::size_t i = 0; i < buckets; ++i) {
    if (all.in_bucket(i) == 0) continue;
    first = std::min(first, i);
    last = i;
    most = std::max(most, all.in_bucket(i));
  }

  show_headings(screen, "How long they stood there", fmt::format("{:>36}", "calls"));
  for (std::size_t i = first; i <= last && i < buckets; ++i) {
    const auto bound = Histogram::bounds[std::min(i, Histogram::bounds.size() - 1)];
    const std::string label = i == 0                         ? "not at all"
                              : i < Histogram::bounds.size() ? "up to " + screen.time(bound)
                                                             : "over " + screen.time(bound);
    screen.print(fmt::format(
        "  {:>14}  {} {:>8}  {:>6}", label, screen.bar(part(all.in_bucket(i), most), 36),
        with_commas(all.in_bucket(i)), percent(part(all.in_bucket(i), all.count()))));
  }
}

void show_methods(const Screen& screen, const Stopwatch& stopwatch) {
  show_headings(screen, "How long each method took",
                fmt::format("{:>15} {:>13} {:>13}", "calls", "half within", "99 % within"));
  for (const auto& [method, laps] : stopwatch.laps()) {
    screen.print(fmt::format("  {:<30} {:>9} {:>13} {:>13}", method, with_commas(laps.count()),
                             screen.time(laps.within(0.5)), screen.time(laps.within(0.99))));
  }
}

void show_facts(const Screen& screen, const std::vector<Account>& accounts,
                const Waits::Seen& waits, const Day& day) {
  const auto fact = [&](const std::string& text) { screen.print("  " + text); };
  screen.print("");
  const auto busiest = std::max_element(
      waits.by_account.begin(), waits.by_account.end(),
      [](const auto& one, const auto& other) { return one.second.count() < other.second.count(); });
  if (busiest != waits.by_account.end()) {
    fact(fmt::format("Busiest account: {}, with {} of all calls.",
                     holder_of(accounts, busiest->first),
                     percent(part(busiest->second.count(), waits.all.count()))));
    fact(fmt::format("Longest wait: {}, for {}.", screen.time(waits.all.longest()),
                     holder_of(accounts, waits.longest_at)));
    fact(fmt::format("Somebody had to wait in {} of the calls; {} of waiting in all.",
                     percent(part(waits.all.noticed(), waits.all.count())),
                     screen.time(waits.all.sum())));
  }
  if (day.tally.gave_up > 0) {
    fact(fmt::format("{} calls gave up: their lock was busy for the whole wait.",
                     with_commas(day.tally.gave_up)));
  }
  if (waits.dropped > 0) {
    fact(fmt::format("{} events came faster than they could be told: the tables lack them.",
                     with_commas(waits.dropped)));
  }
}

void show_books(const Screen& screen, const Books& books) {
  const auto row = [&](const char* what, Money amount, const std::string& remark) {
    const char* const gap = remark.empty() ? "" : "   ";
    screen.print(fmt::format("  {:<22}{:>16}{}{}", what, to_text(amount), gap, remark));
  };
  const auto& tally = books.tally;
  screen.print("");
  screen.print("  " + screen.ink(Ink::bold, "The books"));
  row("opening balances", books.opening, "");
  row("+ paid in", tally.paid_in, fmt::format("{} deposits", with_commas(tally.deposits)));
  row("- paid out", tally.paid_out, fmt::format("{} withdrawals", with_commas(tally.withdrawals)));
  row("  moved", tally.moved,
      fmt::format("{} transfers, which change no sum", with_commas(tally.transfers)));
  if (tally.refused > 0) {
    screen.print(fmt::format("  {:<22}{:>16}   withdrawals and transfers of more than there was",
                             "refused", with_commas(tally.refused)));
  }
  row("= there should be", books.expected(), "");
  const Money off = books.closing.balances - books.expected();
  row("there is", books.closing.balances,
      off == 0 ? "" : fmt::format("{}{}", off > 0 ? "+" : "", to_text(off)));
  screen.print(fmt::format("  {:<22}{:>16}   of {} found a wrong balance", "audits",
                           tally.failed_audits == 0 ? "none" : with_commas(tally.failed_audits),
                           with_commas(tally.audits)));
  screen.print("");
  if (books.balanced()) {
    screen.print(fmt::format("  {} The books balance: {} updates, none lost.", screen.mark(true),
                             with_commas(books.closing.updates)));
    return;
  }
  screen.print(fmt::format(
      "  {} The books do not balance: {} of {} updates were lost ({}).", screen.mark(false),
      screen.ink(Ink::bad, with_commas(books.closing.lost)), with_commas(books.closing.updates),
      percent(part(books.closing.lost, books.closing.updates))));
}

}  // namespace demo
