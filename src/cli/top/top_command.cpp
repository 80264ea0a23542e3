// The options of `latchkey top`.
// SPDX-License-Identifier: BSL-1.0
#include "cli/commands.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "cli/connection.hpp"
#include "cli/parse.hpp"
#include "cli/top/top.hpp"

namespace latchkey::inline v1::cli {
namespace {

constexpr const char* top_examples = R"(Examples:
  latchkey top redis://127.0.0.1
  latchkey top --sort waiters --filter order: --interval 500ms redis://127.0.0.1
  latchkey top --once --all redis://127.0.0.1
  latchkey top --json redis://127.0.0.1 | jq -c 'select(.waiters > 10)'

Columns: KEY, TYPE as far as the backend knows it, WAIT: how many wait, CONT: in how many of the
last 64 samples somebody waited, HELD: since top saw this holder first (> if it held before that),
LEFT: of the lease, HOLDER: as it announces itself. The locks that somebody waits for are always
there; the others are found by a scan of 1000 keys a second, --once: 20000 keys a second and 20000
in all.)";

struct TopWords {
  TopOptions options{};
  std::string sort = "contention";
  std::string interval = "2s";
};

constexpr std::chrono::milliseconds shortest_interval{500};
/// A single table scans faster than the live screen, which has more time.
constexpr std::uint64_t rate_of_one_table = 20'000;
/// It takes about a second, and contains all locks that somebody waits for in any case.
constexpr std::uint64_t limit_of_one_table = 20'000;

void add_words(CLI::App& command, TopWords& words) {
  TopOptions& options = words.options;
  add_connection_words(command, options.connection);
  command.add_option("--pattern", options.pattern, "Only keys that match, as in ls")
      ->type_name("PATTERN")
      ->capture_default_str();
  command
      .add_option("--sort", words.sort, "The first column: contention, waiters, held, left or key")
      ->type_name("COLUMN")
      ->capture_default_str();
  command.add_flag("--reverse,-r", options.order.reverse, "Sort in the opposite order");
  command.add_option("--filter", options.order.filter, "Only rows whose key or holder contains it")
      ->type_name("TEXT");
  command.add_option("--interval,-i", words.interval, "Time between two samples; at least 500ms")
      ->type_name("TIME")
      ->capture_default_str();
  command.add_flag("--once", options.once, "Print one table; needs no terminal");
  command.add_option("--rows,-n", options.rows, "With --once: how many rows at most")
      ->check(CLI::Range(std::size_t{1}, SIZE_MAX).description(""))
      ->type_name("N")
      ->capture_default_str();
  command.add_flag("--json", options.json, "As --once, one JSON object on one line for each lock");
  add_scan_words(command, options.scan);
}

/// `rate` and `limit`: the option is on the command line.
TopOptions options_of(const TopWords& words, bool rate, bool limit) {
  TopOptions options = words.options;
  options.once = options.once || options.json;
  options.order.key = parse_sort_key(words.sort);
  if (options.once && options.order.key == SortKey::held) {
    throw UsageError(
        "--sort 'held': one table does not tell for how long; expected contention, waiters, left "
        "or key");
  }
  options.interval = parse_duration("--interval", words.interval);
  if (options.interval < shortest_interval) {
    throw UsageError("--interval '" + words.interval +
                     "': a shorter one would burden the server; expected 500ms or more");
  }
  if (options.once && !rate) options.scan.rate = rate_of_one_table;
  if (options.once && !limit) options.scan.limit = limit_of_one_table;
  return options;
}

}  // namespace

void add_top(CLI::App& app, const SignalInbox& signals, Action& action) {
  CLI::App* const command =
      app.add_subcommand("top", "Watch the locks live: who holds which, and how many wait");
  const auto words = std::make_shared<TopWords>();
  add_words(*command, *words);
  command->footer(top_examples);
  command->callback([words, command, &signals, &action] {
    const bool rate = command->count("--rate") > 0;
    const bool limit = command->count("--limit") > 0;
    action = [words, rate, limit, &signals] {
      const TopOptions options = options_of(*words, rate, limit);
      if (!options.once) return run_top(options, signals);
      signals.restore();  // a signal ends it at once
      return print_top(options);
    };
  });
}

}  // namespace latchkey::inline v1::cli
