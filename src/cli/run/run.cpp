// `latchkey run`: a command under a lock.
// SPDX-License-Identifier: BSL-1.0
#include "cli/run/run.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <optional>
#include <string>

#include <latchkey/error.hpp>

#include "cli/output.hpp"
#include "cli/parse.hpp"
#include "cli/poll_events.hpp"
#include "cli/run/acquisition.hpp"
#include "cli/run/child_supervisor.hpp"
#include "cli/run/descendants.hpp"
#include "cli/run/job_control.hpp"

extern char** environ;

namespace latchkey::inline v1::cli {
namespace {

using std::chrono::milliseconds;

/// Reads all pending signals and returns the first whose default action ends a process.
std::optional<int> terminating_signal(const SignalInbox& signals) {
  std::optional<int> ends;
  while (const std::optional<int> signal = signals.next()) {
    const DefaultAction action = default_action(*signal);
    if (action == DefaultAction::stop) ::raise(SIGSTOP);
    if (action == DefaultAction::terminate && !ends) ends = signal;
  }
  return ends;
}

using SteadyClock = std::chrono::steady_clock;

/// The timeout of a poll that ends at `deadline`.
int timeout_until(SteadyClock::time_point deadline) {
  if (deadline == SteadyClock::time_point::max()) return -1;
  constexpr milliseconds longest = std::chrono::hours(24);
  const auto left = std::chrono::ceil<milliseconds>(deadline - SteadyClock::now());
  return static_cast<int>(std::clamp(left, milliseconds(0), longest).count());
}

/// Waits until the acquire has ended, or a signal ends the tool. Ends the process if the wait is
/// over before there is a connection: the thread that connects cannot be interrupted.
std::optional<int> await(const RunOptions& options, Acquisition& acquisition,
                         const WakeEvent& acquired, const SignalInbox& signals) {
  SteadyClock::time_point deadline = acquisition.connect_deadline();
  for (;;) {
    pollfd events[] = {{signals.descriptor(), POLLIN, 0}, {acquired.descriptor(), POLLIN, 0}};
    ::poll(events, std::size(events), timeout_until(deadline));
    if (const std::optional<int> signal = terminating_signal(signals)) return signal;
    if ((events[1].revents & POLLIN) != 0) return std::nullopt;
    if (SteadyClock::now() < deadline) continue;
    if (acquisition.give_up_connecting()) {
      if (!options.quiet) print_message("the backend did not answer for the whole wait");
      std::_Exit(exit_code::unavailable);
    }
    deadline = SteadyClock::time_point::max();  // there is a connection
  }
}

/// Leaves the queue, or releases the lock. Returns the exit status.
int leave(Acquisition& acquisition, int signal) {
  const int status = exit_code::signal_base + signal;
  if (acquisition.give_up_connecting()) std::_Exit(status);
  acquisition.abandon();
  return status;
}

/// The tool's own environment and the variables that describe the lock.
std::vector<std::string> child_environment(const RunOptions& options, const Hold& hold) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const bool ours = text.starts_with("LATCHKEY_KEY=") || text.starts_with("LATCHKEY_FENCE=") ||
                      text.starts_with("LATCHKEY_OWNER=") ||
                      text.starts_with("LATCHKEY_DEADLINE=") ||
                      text.starts_with("LATCHKEY_INSTANT=");
    if (!ours) variables.emplace_back(text);
  }
  variables.push_back("LATCHKEY_KEY=" + joined_keys(options.keys));
  variables.push_back("LATCHKEY_OWNER=" + hold.id());
  if (const auto token = hold.fencing_token()) {
    variables.push_back("LATCHKEY_FENCE=" + std::to_string(*token));
  }
  if (options.once) variables.push_back("LATCHKEY_INSTANT=" + options.once->text());
  const auto deadline = std::chrono::system_clock::now() + hold.remaining();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(deadline.time_since_epoch());
  variables.push_back("LATCHKEY_DEADLINE=" + std::to_string(seconds.count()));
  return variables;
}

/// Extends the lease of an instant's lock if the run counts, and returns for how long the server
/// keeps the lock after the command. Throws as Hold::extend.
milliseconds mark(const OncePlan& once, Hold& hold, int status) {
  if (!once.counts(status)) return milliseconds(0);
  if (once.on_failure == OnFailure::retry) hold.extend(once.mark);
  return once.mark;
}

/// Releases the lock; the server keeps it locked for the rest of --hold-for, or that of an instant
/// until nobody can begin it any more. False: it had been lost.
bool release(const RunOptions& options, Hold& hold, std::chrono::steady_clock::time_point since,
             int status) {
  const auto held = std::chrono::steady_clock::now() - since;
  auto rest = std::chrono::ceil<milliseconds>(options.hold_for - held);
  try {
    if (options.once) rest = mark(*options.once, hold, status);
    if (rest > milliseconds(0)) hold.hold_for(rest);
    return hold.release();
  } catch (const Error& error) {
    if (!options.quiet) print_message(error.what());
    return true;
  }
}

int run_child(const RunOptions& options, Hold& hold, const SignalInbox& signals) {
  const auto since = std::chrono::steady_clock::now();
  adopt_orphans();
  int status = 0;
  bool lost = false;
  try {
    ChildSupervisor child(options, hold, signals,
                          {options.command, child_environment(options, hold)});
    status = child.wait();
    lost = child.lost();
  } catch (const StartFailure& failure) {
    print_message(failure.sentence);
    return failure.exit_code;
  }
  // The release finds a loss that no renewal has found.
  if (!release(options, hold, since, status) && !lost) {
    if (!options.quiet) print_message("the lock was lost while the command ran");
    lost = true;
  }
  return lost && options.on_lost == RunOptions::OnLost::term ? exit_code::lost : status;
}

}  // namespace

int run_under_lock(const RunOptions& options, const SignalInbox& signals) {
  if (const std::optional<int> status = leave_earlier_children(signals)) return *status;
  if (options.once && !options.once->is_in_time()) return exit_code::success;
  const WakeEvent acquired;
  Acquisition acquisition(options, acquired);
  std::optional<int> signal = await(options, acquisition, acquired, signals);
  if (signal) return leave(acquisition, *signal);
  if (!acquisition.hold) {
    // With this status a busy lock is no error, and whoever reads the output is not told of it.
    const bool skipped = acquisition.busy && options.conflict_exit_code == exit_code::success;
    if (!options.quiet && !skipped) print_message(acquisition.reason);
    return acquisition.exit_code;
  }
  if (acquisition.hold->lost()) {
    if (!options.quiet) print_message("the lock was lost before the command started");
    return exit_code::lost;
  }
  signal = terminating_signal(signals);
  if (signal) return leave(acquisition, *signal);
  if (options.once && !options.once->is_in_time()) {
    acquisition.abandon();
    return exit_code::success;
  }
  return run_child(options, *acquisition.hold, signals);
}

}  // namespace latchkey::inline v1::cli
