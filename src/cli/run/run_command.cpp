// The options of `latchkey run`.
// SPDX-License-Identifier: BSL-1.0
#include "cli/commands.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>

#include <latchkey/permits.hpp>

#include "cli/parse.hpp"
#include "cli/run/run.hpp"
#include "cli/run/run_options.hpp"

namespace latchkey::inline v1::cli {
namespace {

using std::chrono::milliseconds;

constexpr const char* run_examples = R"(Examples:
  latchkey run --key backup redis://127.0.0.1 -- tar czf /backup/home.tgz /home
  latchkey run --key migration --wait 0 --conflict-exit-code 0 -- ./migrate
  latchkey run --key account:1,account:2 --type write --lease 30s -- ./transfer

Exit status: that of the command, 128+n where signal n ended it, and
  64 wrong usage              69 the backend gave no answer   70 a system call failed
  75 busy for the whole wait  76 the lock was lost            77 the backend said no
  126, 127 as the shell says it)";

struct RunWords {
  CommandWords shared{};
  std::vector<std::string> keys{};
  std::string type = "reentrant";
  std::optional<std::uint32_t> permits{};
  std::string lease = "watchdog";
  std::string hold_for = "0s";
  std::optional<std::string> held_at_most{};
  std::optional<std::string> lock_delay{};
  std::string on_revoke = "ignore";
};

RunOptions::OnRevoke parse_on_revoke(const std::string& text) {
  if (text == "ignore") return RunOptions::OnRevoke::ignore;
  if (text == "term") return RunOptions::OnRevoke::term;
  throw UsageError("--on-revoke '" + text + "': expected ignore or term");
}

/// `lease` with the limit of --held-at-most. Throws UsageError.
Lease limited(Lease lease, const std::string& limit) {
  const milliseconds time = parse_duration("--held-at-most", limit);
  if (!lease.is_watchdog() && lease.length({}) > time) {
    throw UsageError("--held-at-most " + limit +
                     " is shorter than the lease; expected a longer time, or --lease watchdog");
  }
  try {
    return lease.held_at_most(time);
  } catch (const std::invalid_argument&) {
    throw UsageError("--held-at-most '" + limit + "': expected a time from 10ms to 10 years");
  }
}

/// `lease` with the time of --lock-delay. Throws UsageError.
Lease delayed(Lease lease, const std::string& delay) {
  const milliseconds time = parse_duration("--lock-delay", delay);
  try {
    return lease.lock_delay(time);
  } catch (const std::invalid_argument&) {
    throw UsageError("--lock-delay '" + delay + "': expected a time from 10ms to 24h");
  }
}

RunOptions options_of(const RunWords& words, const std::vector<std::string>& extra,
                      const std::vector<std::string>& command) {
  RunOptions options = command_options("run", words.shared, extra, command);
  if (words.keys.empty()) throw UsageError("--key is required; expected --key and what to lock");
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
  options.on_revoke = parse_on_revoke(words.on_revoke);
  options.lease = parse_lease(words.lease);
  if (words.lock_delay) options.lease = delayed(options.lease, *words.lock_delay);
  options.hold_for = parse_duration("--hold-for", words.hold_for);
  if (words.held_at_most) {
    options.lease = limited(options.lease, *words.held_at_most);
    if (options.hold_for > options.lease.held_at_most()) {
      throw UsageError("--hold-for " + words.hold_for + " is longer than --held-at-most " +
                       *words.held_at_most + "; expected a longer --held-at-most");
    }
  }
  const milliseconds lease = options.lease.length(options.watchdog_period);
  if (options.hold_for > lease) {
    throw UsageError("--hold-for " + words.hold_for +
                     " is longer than the lease; expected --lease " + words.hold_for + " or more");
  }
  return options;
}

}  // namespace

void add_run(CLI::App& app, const std::vector<std::string>& command, const SignalInbox& signals,
             Action& action) {
  CLI::App* const run = app.add_subcommand(
      "run", "Run a command while holding a lock; the command ends before the lock does");
  const auto words = std::make_shared<RunWords>();
  words->shared.wait = "forever";
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
  run->add_option("--lease,-l", words->lease,
                  "How long the lock lasts; watchdog: renewed for as long as the command runs")
      ->type_name("TIME|watchdog")
      ->capture_default_str();
  run->add_option("--hold-for,--at-least", words->hold_for,
                  "Keep the lock for this long even if the command ends earlier; --at-least is the "
                  "former name")
      ->type_name("TIME")
      ->capture_default_str();
  run->add_option("--held-at-most", words->held_at_most,
                  "End the command so that the lock is held no longer than this, although the "
                  "watchdog renews it")
      ->type_name("TIME");
  run->add_option("--lock-delay", words->lock_delay,
                  "Keep the lock from others for this long if it is lost, as when this tool is "
                  "killed; a command that ends frees it at once")
      ->type_name("TIME");
  run->add_option("--on-revoke", words->on_revoke,
                  "What happens to the command when somebody asks for the lock by latchkey revoke: "
                  "ignore, or term: it gets SIGTERM and takes the time it needs")
      ->type_name("WHAT")
      ->capture_default_str();
  add_command_options(*run, words->shared);
  run->footer(run_examples);
  run->callback([words, run, &command, &signals, &action] {
    action = [words, run, &command, &signals] {
      return run_under_lock(options_of(*words, run->remaining(), command), signals);
    };
  });
}

}  // namespace latchkey::inline v1::cli
