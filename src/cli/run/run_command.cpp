// The options of `latchkey run`.
// SPDX-License-Identifier: BSL-1.0
#include "cli/run/run_command.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include <latchkey/permits.hpp>

#include "cli/connection_words.hpp"
#include "cli/parse.hpp"
#include "cli/run/run.hpp"

namespace latchkey::inline v1::cli {
namespace {

using std::chrono::milliseconds;

constexpr const char* examples = R"(Examples:
  latchkey run --key backup redis://127.0.0.1 -- tar czf /backup/home.tgz /home
  latchkey run --key migration --wait 0 --conflict-exit-code 0 -- ./migrate
  latchkey run --key account:1,account:2 --type write --lease 30s -- ./transfer

Exit status: that of the command, 128+n where signal n ended it, and
  64 wrong usage              69 the backend gave no answer   70 a system call failed
  75 busy for the whole wait  76 the lock was lost            77 the backend said no
  126, 127 as the shell says it)";

struct RunWords {
  ConnectionOptions connection{};
  std::vector<std::string> keys{};
  std::string type = "reentrant";
  std::optional<std::uint32_t> permits{};
  std::string wait = "forever";
  std::string lease = "watchdog";
  std::string watchdog = "30s";
  std::string at_least = "0s";
  std::string kill_after = "5s";
  std::string on_lost = "term";
  int conflict_exit_code = exit_code::busy;
  bool quiet = false;
};

RunOptions::OnLost parse_on_lost(const std::string& text) {
  if (text == "term") return RunOptions::OnLost::TERM;
  if (text == "report") return RunOptions::OnLost::REPORT;
  throw UsageError("--on-lost '" + text + "': expected term or report");
}

/// The command is what follows `--`. `extra`: the words before it that are not of `run`; the first
/// word of a command without `--` may have been taken for the URI.
void check_command(const RunWords& words, const std::vector<std::string>& extra,
                   const std::vector<std::string>& command) {
  const std::string& uri = words.connection.uri;
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
    throw UsageError("run: unknown option '" + extra.front() +
                     "'; expected one of latchkey run --help, and -- before the command");
  }
  throw UsageError("run: unexpected '" + extra.front() +
                   "' before --; expected the options of latchkey run --help and one URI");
}

RunOptions options_of(const RunWords& words, const std::vector<std::string>& extra,
                      const std::vector<std::string>& command) {
  check_command(words, extra, command);
  if (words.keys.empty()) throw UsageError("--key is required; expected --key and what to lock");
  RunOptions options;
  options.connection = words.connection;
  options.keys = parse_keys(words.keys);
  options.type = parse_type(words.type);
  options.permits = words.permits;
  if (words.permits && options.keys.size() > 1) {
    throw UsageError("--permits with several keys: a semaphore is taken alone; expected one --key");
  }
  if (words.permits && options.type != LockType::REENTRANT) {
    throw UsageError("--permits makes the key a semaphore, and --type " + words.type +
                     " a lock; expected one of the two");
  }
  options.wait = parse_wait(words.wait);
  options.lease = parse_lease(words.lease);
  options.watchdog_period = parse_duration("--watchdog", words.watchdog);
  options.at_least = parse_duration("--at-least", words.at_least);
  options.kill_after = parse_duration("--kill-after", words.kill_after);
  options.on_lost = parse_on_lost(words.on_lost);
  options.conflict_exit_code = words.conflict_exit_code;
  options.quiet = words.quiet;
  options.command = command;
  const milliseconds lease = options.lease.length(options.watchdog_period);
  if (options.at_least > lease) {
    throw UsageError("--at-least " + words.at_least +
                     " is longer than the lease; expected --lease " + words.at_least + " or more");
  }
  return options;
}

}  // namespace

void add_run(CLI::App& app, const std::vector<std::string>& command, const SignalInbox& signals,
             Action& action) {
  CLI::App* const run = app.add_subcommand(
      "run", "Run a command while holding a lock; the command ends before the lock does");
  const auto words = std::make_shared<RunWords>();
  add_connection_words(*run, words->connection);
  run->add_option(
         "--key,-k", words->keys,
         "What to lock, required; several with commas between, and \\, for a comma in a key")
      ->allow_extra_args(false)
      ->type_name("KEY[,KEY...]");
  run->add_option("--type,-t", words->type, "reentrant, fair, read, write or fenced")
      ->type_name("TYPE")
      ->capture_default_str();
  run->add_option("--permits", words->permits,
                  "Let at most N commands run at once: the key is a semaphore of N permits")
      ->check(CLI::Range(std::uint32_t{1}, most_permits).description(""))
      ->type_name("N");
  run->add_option("--wait,-w", words->wait, "How long to wait for the lock; 0: do not wait")
      ->type_name("TIME|forever")
      ->capture_default_str();
  run->add_option("--lease,-l", words->lease,
                  "How long the lock lasts; watchdog: renewed for as long as the command runs")
      ->type_name("TIME|watchdog")
      ->capture_default_str();
  run->add_option("--watchdog", words->watchdog,
                  "The lease that is renewed every third of it; the lock is free again this long "
                  "after the machine died")
      ->type_name("TIME")
      ->capture_default_str();
  run->add_option("--at-least", words->at_least,
                  "Keep the lock for this long even if the command ends earlier")
      ->type_name("TIME")
      ->capture_default_str();
  run->add_option("--kill-after", words->kill_after,
                  "Time between SIGTERM and SIGKILL when the lock is lost; at most a third of "
                  "the lease")
      ->type_name("TIME")
      ->capture_default_str();
  run->add_option("--on-lost", words->on_lost, "What happens to the command: term or report")
      ->type_name("WHAT")
      ->capture_default_str();
  run->add_option(
         "--conflict-exit-code", words->conflict_exit_code,
         "Exit status when the lock was busy for the whole wait; with 0 that is not reported "
         "either")
      ->check(CLI::Range(0, 255).description(""))
      ->type_name("N")
      ->capture_default_str();
  run->add_flag("--quiet,-q", words->quiet, "Print nothing on stderr about the lock");
  run->footer(examples);
  run->prefix_command();  // what follows a word that is not of `run` may be a command
  run->callback([words, run, &command, &signals, &action] {
    action = [words, run, &command, &signals] {
      return run_under_lock(options_of(*words, run->remaining(), command), signals);
    };
  });
}

}  // namespace latchkey::inline v1::cli
