// The words that `latchkey run` and `latchkey once` share.
// SPDX-License-Identifier: BSL-1.0
#include "cli/run/run_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/connection.hpp"
#include "cli/parse.hpp"

namespace latchkey::inline v1::cli {
namespace {

RunOptions::OnLost parse_on_lost(const std::string& text) {
  if (text == "term") return RunOptions::OnLost::term;
  if (text == "report") return RunOptions::OnLost::report;
  throw UsageError("--on-lost '" + text + "': expected term or report");
}

void check_command(const std::string& name, const std::string& uri,
                   const std::vector<std::string>& extra, const std::vector<std::string>& command) {
  const bool names_uri = uri.empty() || is_uri(uri) || is_address(uri);
  const std::string first = !names_uri ? uri : extra.empty() ? std::string() : extra.front();
  if (command.empty() && first.empty()) {
    throw UsageError("no command; expected -- and a command after the options");
  }
  if (command.empty() && !first.starts_with('-')) {
    throw UsageError("no -- before '" + first +
                     "'; expected -- between the options and the command");
  }
  if (extra.empty()) return;
  if (extra.front().starts_with('-')) {
    throw UsageError(name + ": unknown option '" + extra.front() + "'; expected one of latchkey " +
                     name + " --help, and -- before the command");
  }
  throw UsageError(name + ": unexpected '" + extra.front() +
                   "' before --; expected the options of latchkey " + name + " --help and one URI");
}

}  // namespace

void add_command_options(CLI::App& app, CommandWords& words) {
  add_connection_words(app, words.connection);
  app.add_option("--wait,-w", words.wait, "How long to wait for the lock; 0: do not wait")
      ->type_name("TIME|forever")
      ->capture_default_str();
  app.add_option("--watchdog", words.watchdog,
                 "The lease that is renewed every third of it; the lock is free again this long "
                 "after the machine died")
      ->type_name("TIME")
      ->capture_default_str();
  app.add_option("--kill-after", words.kill_after,
                 "Time between SIGTERM and SIGKILL when the lock is lost; at most a third of "
                 "the lease")
      ->type_name("TIME")
      ->capture_default_str();
  app.add_option("--on-lost", words.on_lost, "What happens to the command: term or report")
      ->type_name("WHAT")
      ->capture_default_str();
  app.add_option(
         "--conflict-exit-code", words.conflict_exit_code,
         "Exit status when the lock was busy for the whole wait; with 0 that is not reported "
         "either")
      ->check(CLI::Range(0, 255).description(""))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--quiet,-q", words.quiet, "Print nothing on stderr about the lock");
  app.prefix_command();  // words after one that is not of `app` may be a command
}

RunOptions command_options(const std::string& name, const CommandWords& words,
                           const std::vector<std::string>& extra,
                           const std::vector<std::string>& command) {
  check_command(name, words.connection.uri, extra, command);
  RunOptions options;
  options.connection = words.connection;
  options.wait = parse_wait(words.wait);
  options.watchdog_period = parse_duration("--watchdog", words.watchdog);
  options.kill_after = parse_duration("--kill-after", words.kill_after);
  options.on_lost = parse_on_lost(words.on_lost);
  options.conflict_exit_code = words.conflict_exit_code;
  options.quiet = words.quiet;
  options.command = command;
  return options;
}

}  // namespace latchkey::inline v1::cli
