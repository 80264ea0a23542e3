// A small bank with concurrent clerks: one day with locks, then one day without.
#include <latchkey/latchkey.hpp>
#include <latchkey/listeners.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bank/accounts.hpp"
#ifdef BANK_IS_ANNOTATED
#include "bank/annotated_bank.hpp"
#else
#include "bank/bank.hpp"
#endif
#include "bank/day.hpp"
#include "bank/ledger.hpp"
#include "bank/metrics.hpp"
#include "bank/report.hpp"
#include "bank/screen.hpp"
#include "bank/stopwatch.hpp"
#include "bank/waits.hpp"

using demo::Account;
using demo::Money;
using latchkey::LockType;

#ifdef BANK_IS_ANNOTATED
using Service = AnnotatedBank;
constexpr const char* form = "[[=latchkey::locked(\"account:{account.id}\", LockType::WRITE, 3s)]]";
#else
using Service = Bank;
constexpr const char* form = "return LOCKED(\"account:{account.id}\", LockType::WRITE, 3s) ...";
#endif

/// The methods of Bank without the LOCKED lines.
class UnlockedBank {
 public:
  explicit UnlockedBank(demo::Ledger& ledger) : ledger_(ledger) {}

  Money deposit(const Account& account, Money amount) { return ledger_.add(account.id, amount); }

  bool withdraw(const Account& account, Money amount) {
    if (ledger_.sum(account.id) < amount) return false;
    ledger_.add(account.id, -amount);
    return true;
  }

  bool transfer(const Account& from, const Account& to, Money amount) {
    if (ledger_.sum(from.id) < amount) return false;
    ledger_.add(from.id, -amount);
    ledger_.add(to.id, amount);
    return true;
  }

  Money balance(const Account& account) const { return ledger_.sum(account.id); }

  bool audit(const Account& account) const { return ledger_.adds_up(account.id); }

 private:
  demo::Ledger& ledger_;
};

namespace {

struct Arguments {
  std::string backend = "memory:";
  std::string accounts = BANK_ACCOUNTS;
  std::string metrics{};
  demo::Plan plan;
};

/// A day of clerks serving customers at `bank`.
template <class AnyBank>
demo::Day work(AnyBank& bank, const Arguments& arguments, const std::vector<Account>& accounts,
               demo::Screen& screen) {
  const demo::Day day = demo::run_day(arguments.plan, accounts, screen,
                                      [&bank](demo::Clerk& clerk) { clerk.serve_one(bank); });
  screen.print(fmt::format("  {} operations in {:.1f} s: {} per second.",
                           demo::with_commas(day.tally.operations()), day.length.count(),
                           demo::with_commas(static_cast<std::uint64_t>(day.per_second()))));
  return day;
}

Money opening_of(const std::vector<Account>& accounts) {
  Money sum = 0;
  for (const Account& account : accounts) sum += account.opening;
  return sum;
}

void show_title(const demo::Screen& screen, const std::string& title, const std::string& remark) {
  screen.print("");
  screen.print(screen.ink(demo::Ink::bold, title) + "  " + screen.ink(demo::Ink::dim, remark));
  screen.print("");
}

struct Result {
  double per_second = 0;
  bool balanced = false;
};

Result run_with_locks(const Arguments& arguments, const std::vector<Account>& accounts,
                      demo::Waits& waits, demo::Screen& screen) {
  show_title(screen, "With locks", form);
  demo::Ledger ledger(accounts);
  Service bank(ledger);
  const demo::Day day = work(bank, arguments, accounts, screen);
  waits.settle(day.tally.operations());
  show_contention(screen, accounts, waits.seen());
  show_waits(screen, waits.seen());
  show_methods(screen, demo::stopwatch);
  show_facts(screen, accounts, waits.seen(), day);
  const demo::Books books{opening_of(accounts), day.tally, ledger.close()};
  show_books(screen, books);
  return {day.per_second(), books.balanced()};
}

Result run_without_locks(const Arguments& arguments, const std::vector<Account>& accounts,
                         demo::Screen& screen) {
  show_title(screen, "Without locks", "the same methods, the same customers, no LOCKED");
  demo::Ledger ledger(accounts);
  UnlockedBank bank(ledger);
  const demo::Day day = work(bank, arguments, accounts, screen);
  const demo::Books books{opening_of(accounts), day.tally, ledger.close()};
  show_books(screen, books);
  return {day.per_second(), books.balanced()};
}

Arguments parse(CLI::App& app, int argc, char** argv) {
  Arguments arguments;
  double seconds = arguments.plan.length.count();
  bool quick = false;
  arguments.plan.seed = std::random_device()() % 100'000;
  app.add_option("--backend", arguments.backend, "where the locks live: a URI")
      ->capture_default_str();
  app.add_option("--metrics", arguments.metrics,
                 "serve metrics to Prometheus at this host and port, such as 127.0.0.1:9464");
  app.add_option("--accounts", arguments.accounts, "a CSV file: id,holder,opening balance");
  app.add_option("--threads", arguments.plan.clerks, "how many clerks work at once")
      ->check(CLI::Range(1, 512))
      ->capture_default_str();
  auto* const length = app.add_option("--seconds", seconds, "how long they work, each time")
                           ->check(CLI::Range(0.1, 3600.0))
                           ->capture_default_str();
  app.add_flag("--quick", quick, "the same as --seconds 1")->excludes(length);
  app.add_option("--seed", arguments.plan.seed, "what the customers want; random unless given");
  app.parse(argc, argv);
  arguments.plan.length = std::chrono::duration<double>(quick ? 1.0 : seconds);
  return arguments;
}

int open_for_business(const Arguments& arguments) {
  // Decorated calls may happen until the program ends, and the listener gets all their events.
  static demo::Waits& waits = *new demo::Waits;
  static const demo::Metrics* const metrics =
      arguments.metrics.empty() ? nullptr : new demo::Metrics(arguments.metrics);
  static latchkey::Listeners& listeners =
      *new latchkey::Listeners{&waits, metrics != nullptr ? &metrics->listener() : nullptr};
  const std::vector<Account> accounts = demo::read_accounts(arguments.accounts);
  const auto locks =
      latchkey::Locks::connect(arguments.backend, {.prefix = "bank:", .listener = &listeners});
  // Any problem with the backend is reported now and not in the middle of the day.
  static_cast<void>(locks.lock("door", LockType::WRITE).try_acquire());
  latchkey::install(locks);

  demo::Screen screen;
  screen.print(fmt::format("{}  {} accounts, {} clerks, locks at {}, seed {}",
                           screen.ink(demo::Ink::bold, "The bank"), accounts.size(),
                           arguments.plan.clerks, locks.describe(), arguments.plan.seed));
  if (metrics != nullptr) screen.print("Metrics at " + metrics->url());
  const Result locked = run_with_locks(arguments, accounts, waits, screen);
  const Result unlocked = run_without_locks(arguments, accounts, screen);
  screen.print(fmt::format("  Without locks the bank was {:.1f} times as fast{}.",
                           unlocked.per_second / locked.per_second,
                           unlocked.balanced ? ", and lucky" : ", and wrong"));
  return locked.balanced ? 0 : 1;
}

}  // namespace

/// 0: the books balanced under locks. 1: they did not. 2: the day could not be run.
int main(int argc, char** argv) {
  // For `latchkey check latchkey.yaml --sites FILE`: docs/cli.md.
  if (const char* const file = std::getenv("LATCHKEY_DUMP_SITES")) {
    std::ofstream out(file);
    latchkey::dump_sites(out);
    return out ? 0 : 2;
  }
  CLI::App app("A small bank, hammered by clerks: first with latchkey's locks, then without.");
  try {
    return open_for_business(parse(app, argc, argv));
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bank: {}\n", error.what());
    return 2;
  }
}
