// latchkey: locks for shell scripts and operators.
// SPDX-License-Identifier: BSL-1.0
#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/version.hpp>

#include "cli/commands.hpp"
#include "cli/connection.hpp"
#include "cli/output.hpp"
#include "cli/poll_events.hpp"

namespace latchkey::inline v1::cli {
namespace {

constexpr const char* exit_statuses = R"(Exit status:
  0 success                1 not locked, nobody asked, or an error in a policy file
  64 wrong usage           69 the backend did not answer
  70 a system call failed  77 the backend refused the request
latchkey run and once have more: latchkey run --help)";

/// Where the command of `latchkey run` or `latchkey once` begins: at the first `--`. The other
/// subcommands read `--` themselves: a key that begins with a dash comes after it.
char** end_of_options(char** words, char** end) {
  char** const first =
      std::find_if(std::min(words + 1, end), end, [](const char* word) { return word[0] != '-'; });
  const bool runs =
      first != end && (*first == std::string_view("run") || *first == std::string_view("once"));
  return runs ? std::find(first, end, std::string_view("--")) : end;
}

/// For words that no option and no positional argument takes.
UsageError unexpected_word(const CLI::App& command) {
  const std::vector<std::string> words = command.remaining();
  return UsageError(command.get_name() + ": unexpected '" + words.front() +
                    "'; expected the options and arguments of latchkey " + command.get_name() +
                    " --help");
}

int dispatch(int count, char** words) {
  // Made first, so that every thread inherits its mask and no signal is missed.
  const SignalInbox signals;
  register_stores();
  char** const end = words + count;
  char** const separator = end_of_options(words, end);
  const std::vector<std::string> command(separator == end ? end : separator + 1, end);

  CLI::App app("Distributed locks for shell scripts and operators", "latchkey");
  app.set_version_flag("--version", std::string(version()));
  app.require_subcommand(1);
  app.footer(exit_statuses);
  Action action;
  add_run(app, command, signals, action);
  add_once(app, command, signals, action);
  add_list(app, action);
  add_show(app, action);
  add_top(app, signals, action);
  add_revoke(app, action);
  add_unlock(app, action);
  add_ping(app, action);
  add_check(app, action);
  add_explain(app, action);
  add_ddl(app, action);
  add_host(app, action);
  add_manual(app, action);
  try {
    app.parse(static_cast<int>(separator - words), words);
  } catch (const CLI::ExtrasError& error) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    if (chosen.empty() || chosen.front()->remaining().empty()) {
      app.exit(error);
      return exit_code::usage;
    }
    throw unexpected_word(*chosen.front());
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_code::success : exit_code::usage;
  }
  const bool reads_signals =
      app.got_subcommand("run") || app.got_subcommand("once") || app.got_subcommand("top");
  if (!reads_signals) signals.restore();  // a signal ends the others at once
  return action();
}

}  // namespace

int main_status(int count, char** words) noexcept {
  try {
    return dispatch(count, words);
  } catch (const UsageError& error) {
    print_message(error.what());
    return exit_code::usage;
  } catch (const PolicyError& error) {
    for (const PolicyError& each : error.all()) print_message(each.what());
    return exit_code::failure;
  } catch (const BackendRefused& error) {
    print_message(error.what());
    return exit_code::refused;
  } catch (const LockError& error) {
    print_message(error.what());
    return exit_code::unavailable;
  } catch (const std::exception& error) {
    print_message(error.what());
    return exit_code::internal;
  }
}

}  // namespace latchkey::inline v1::cli

int main(int count, char** words) { return latchkey::cli::main_status(count, words); }
