// The options of `latchkey once`.
// SPDX-License-Identifier: BSL-1.0
#include "cli/commands.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

#include <latchkey/cron.hpp>
#include <latchkey/locks.hpp>

#include "cli/output.hpp"
#include "cli/parse.hpp"
#include "cli/run/run.hpp"
#include "cli/run/run_options.hpp"
#include "once/once_job.hpp"

namespace latchkey::inline v1::cli {
namespace {

using std::chrono::milliseconds;

constexpr const char* once_examples = R"(Examples:
  latchkey once --key report --every 15m redis://127.0.0.1 -- ./send-report
  latchkey once --key nightly --cron '30 2 * * *' --zone Europe/Berlin -- ./clean-up

The command runs for the last instant that has come, unless it has run in any process. Exit status:
that of the command, 0 if the instant is taken or it is too late for it, 128+n where signal n ended
the command, and
  64 wrong usage              69 the backend gave no answer   70 a system call failed
  76 the lock was lost        77 the backend said no          126, 127 as the shell says it)";

struct OnceWords {
  CommandWords shared{};
  std::string key{};
  std::string cron{};
  std::string zone = "UTC";
  std::string every{};
  std::string offset = "0s";
  std::string clock_error = "1s";
  std::string start_within{};
  std::string on_failure = "retry";
};

OnFailure parse_on_failure(const std::string& text) {
  if (text == "retry") return OnFailure::retry;
  if (text == "skip") return OnFailure::skip_instant;
  throw UsageError("--on-failure '" + text + "': expected retry or skip");
}

/// Checks the words as OncePer checks its options, and plans the current instant.
OncePlan plan_of(const OnceWords& words, Wait wait) {
  OncePerOptions options;
  options.offset = parse_duration("--offset", words.offset);
  options.clock_error = parse_duration("--clock-error", words.clock_error);
  options.on_failure = parse_on_failure(words.on_failure);
  options.wait = wait;
  if (!words.start_within.empty()) {
    options.start_within = parse_duration("--start-within", words.start_within);
  }
  if (words.cron.empty() == words.every.empty()) {
    throw UsageError(
        "when: expected one of --every, as in --every 15m, and --cron, as in --cron "
        "'30 2 * * *'");
  }
  try {
    OncePlan plan{words.cron.empty()
                      ? detail::checked_schedule(parse_duration("--every", words.every), options)
                      : detail::checked_schedule(Cron(words.cron, words.zone), options),
                  options.on_failure};
    plan.instant = plan.schedule.instant_at(std::chrono::system_clock::now());
    plan.mark = detail::lease_of_mark(plan.schedule.mark(plan.instant), milliseconds(1000));
    return plan;
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

RunOptions options_of(const OnceWords& words, const std::vector<std::string>& extra,
                      const std::vector<std::string>& command) {
  RunOptions options = command_options("once", words.shared, extra, command);
  if (words.key.empty())
    throw UsageError("--key is required; expected --key and a name of the job");
  OncePlan plan = plan_of(words, options.wait);
  options.keys = {detail::once_key(words.key, plan.instant)};
  if (plan.on_failure == OnFailure::skip_instant) options.lease = Lease(plan.mark);
  options.once = std::move(plan);
  return options;
}

}  // namespace

void add_once(CLI::App& app, const std::vector<std::string>& command, const SignalInbox& signals,
              Action& action) {
  CLI::App* const once = app.add_subcommand(
      "once", "Run a scheduled command once for each instant, on one of all machines");
  const auto words = std::make_shared<OnceWords>();
  words->shared.wait = "0";
  words->shared.conflict_exit_code = exit_code::success;
  once->add_option("--key,-k", words->key, "The name of the job, required")->type_name("KEY");
  once->add_option("--every", words->every, "The period of the instants, from 1970 in UTC")
      ->type_name("TIME");
  once->add_option("--offset", words->offset, "Moves the instants of --every")
      ->type_name("TIME")
      ->capture_default_str();
  once->add_option("--cron", words->cron, "The instants as a cron expression of five fields")
      ->type_name("EXPRESSION");
  once->add_option("--zone", words->zone,
                   "The time zone of --cron: UTC, +01:00, or a name such as Europe/Berlin")
      ->type_name("ZONE")
      ->capture_default_str();
  once->add_option("--start-within", words->start_within,
                   "How long after its instant the command may begin; until the next instant, and "
                   "with --cron for a day at most")
      ->type_name("TIME");
  once->add_option("--clock-error", words->clock_error,
                   "How far the clock of each machine may be from the true time")
      ->type_name("TIME")
      ->capture_default_str();
  once->add_option("--on-failure", words->on_failure,
                   "After a command that failed: retry lets another run follow, skip none")
      ->type_name("WHAT")
      ->capture_default_str();
  add_command_options(*once, words->shared);
  once->footer(once_examples);
  once->callback([words, once, &command, &signals, &action] {
    action = [words, once, &command, &signals] {
      return run_under_lock(options_of(*words, once->remaining(), command), signals);
    };
  });
}

}  // namespace latchkey::inline v1::cli
