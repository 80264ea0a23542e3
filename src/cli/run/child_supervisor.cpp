// Supervises the child from its start to the end of its last descendant.
// SPDX-License-Identifier: BSL-1.0
#include "cli/run/child_supervisor.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "cli/output.hpp"
#include "cli/run/descendants.hpp"

namespace latchkey::inline v1::cli {

using Phase = StopSchedule::Phase;

ChildSupervisor::ChildSupervisor(const RunOptions& options, const Hold& hold,
                                 const SignalInbox& signals, const Command& command)
    : options_(options),
      hold_(hold),
      signals_(signals),
      foreground_(terminal_.in_foreground()),
      child_(command, signals, foreground_),
      schedule_(options.kill_after, options.lease_length()),
      on_loss_(hold.stop_token(), [this] { lock_lost_.set(); }),
      on_revocation_(options.on_revoke == RunOptions::OnRevoke::term ? hold.revocation_token()
                                                                     : std::stop_token(),
                     [this] { asked_.set(); }) {}

int ChildSupervisor::wait() {
  for (;;) {
    reap();
    if (status_ && childless_) break;
    if (!hold_.lost()) deadline_ = clock_.now() + hold_.remaining();
    if (status_) {
      end_descendants();
    } else {
      check_lock();
      check_revocation();
    }
    await_event();
    forward_signals();
  }
  if (foreground_) terminal_.take_back(*status_ > exit_code::signal_base);
  return *status_;
}

/// Ends the child in time if the lock is lost or about to be lost.
void ChildSupervisor::check_lock() {
  const Clock::time_point now = clock_.now();
  const bool lost = hold_.lost();
  if (options_.on_lost == RunOptions::OnLost::report) {
    if (lost && !lost_ && !options_.quiet) {
      print_message_without_waiting("the lock was lost; the command runs on without it");
    }
    lost_ = lost_ || lost;
    return;
  }
  const Phase phase = schedule_.advance(now, deadline_, lost);
  if (phase == Phase::running || phase == told_) {
    if (phase == Phase::killing) signal_all(SIGKILL);  // started meanwhile
    return;
  }
  signal_all(phase == Phase::killing ? SIGKILL : SIGTERM);
  signal_all(SIGCONT);  // a stopped process handles SIGTERM only after SIGCONT
  if (told_ == Phase::running && !options_.quiet) {
    // The reader of stderr may have stopped reading, and SIGKILL may be due.
    print_message_without_waiting(lost ? "the lock was lost; ending the command"
                                       : "the lock is about to end; ending the command");
  }
  lost_ = true;
  told_ = phase;
}

/// Tells the child once that somebody asked for the lock. It is not killed.
void ChildSupervisor::check_revocation() {
  const bool listens = options_.on_revoke == RunOptions::OnRevoke::term;
  if (!listens || revoked_ || told_ != Phase::running || !hold_.revoked()) return;
  revoked_ = true;
  child_.signal(SIGTERM);
  child_.signal(SIGCONT);  // a stopped process handles SIGTERM only after SIGCONT
  if (options_.quiet) return;
  print_message_without_waiting("somebody asked for the lock; ending the command");
}

/// The child has ended, but some of its descendants run. They must not work without the lock.
void ChildSupervisor::end_descendants() {
  const Phase before = schedule_.phase();
  const Phase phase = schedule_.end_remaining(clock_.now(), deadline_);
  if (phase == Phase::killing) {
    signal_all(SIGKILL);
  } else if (before == Phase::running) {
    signal_all(SIGTERM);
    signal_all(SIGCONT);
  }
  told_ = phase;
}

/// Signals every process below this one. The child's group gets it first and at once: to read /proc
/// takes long on a busy machine, or is impossible.
void ChildSupervisor::signal_all(int number) const {
  // Another group may have got the id of a group in which this process has no child any more.
  siginfo_t unused{};
  const pid_t group = child_.group();
  const bool is_ours =
      ::waitid(P_PGID, static_cast<id_t>(group), &unused, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (is_ours) child_.signal(number);
  for (const Descendant& process : descendants().value_or(std::vector<Descendant>())) {
    if (!is_ours || ::getpgid(process.id) != group) send_signal(process, number);
  }
}

void ChildSupervisor::forward_signals() {
  while (const std::optional<int> signal = signals_.next()) {
    // Signals for this process alone: SIGCHLD for its children, and SIGWINCH, which the terminal
    // also sends to its foreground group.
    if (*signal == SIGCHLD || (*signal == SIGWINCH && foreground_)) continue;
    if (*signal == SIGCONT && foreground_) terminal_.give_to(child_.group());
    if (!status_) child_.signal(*signal);
  }
}

void ChildSupervisor::reap() {
  int status = 0;
  pid_t process = 0;
  while ((process = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    if (process != child_.id()) continue;  // a descendant whose parent has ended
    if (WIFEXITED(status)) status_ = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) status_ = exit_code::signal_base + WTERMSIG(status);
    if (WIFSTOPPED(status)) follow_stop();
  }
  // A process below this one whose parent has ended is a child of this one: without a child it has
  // no descendant at all.
  childless_ = process == -1 && errno == ECHILD;
}

/// Handles a stopped child. At a terminal this process stops too, so that the shell continues, and
/// it continues the child when it is continued itself. It renews nothing meanwhile, so the lock may
/// be lost by then. Without a terminal it runs on and keeps the lock.
void ChildSupervisor::follow_stop() {
  if (!foreground_ || told_ != Phase::running) return;
  terminal_.take_back(false);
  ::raise(SIGSTOP);
  check_lock();
  if (told_ != Phase::running) return;
  if (terminal_.in_foreground()) terminal_.give_to(child_.group());
  child_.signal(SIGCONT);
}

/// Waits until a signal arrives, the lock is lost or the schedule is due.
void ChildSupervisor::await_event() const {
  const bool ending = told_ != Phase::running || status_;
  // Nothing reports the end of a descendant.
  constexpr std::chrono::milliseconds descendants_poll{20};
  const bool watches_deadline = !lost_ && options_.on_lost == RunOptions::OnLost::term;
  Clock::duration length = std::chrono::hours(1);
  if (watches_deadline || ending) length = schedule_.due(deadline_) - clock_.now();
  if (ending) length = std::min<Clock::duration>(length, descendants_poll);
  alarm_.set_after(length);
  // The event of a loss stays readable. After the child has ended, a loss changes nothing.
  pollfd events[] = {{signals_.descriptor(), POLLIN, 0},
                     {alarm_.descriptor(), POLLIN, 0},
                     {lost_ || status_ ? -1 : lock_lost_.descriptor(), POLLIN, 0},
                     {revoked_ || lost_ || status_ ? -1 : asked_.descriptor(), POLLIN, 0}};
  ::poll(events, std::size(events), -1);
}

}  // namespace latchkey::inline v1::cli
