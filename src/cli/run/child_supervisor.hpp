// Supervises the child from its start to the end of its last descendant.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>
#include <optional>
#include <stop_token>

#include <latchkey/clock.hpp>
#include <latchkey/hold.hpp>

#include "cli/poll_events.hpp"
#include "cli/run/child_process.hpp"
#include "cli/run/job_control.hpp"
#include "cli/run/run_options.hpp"
#include "cli/run/stop_schedule.hpp"

namespace latchkey::inline v1::cli {

/// Forwards signals to the child, ends it before the lock's deadline, does a shell's job control,
/// and waits until no descendant is left.
class ChildSupervisor {
 public:
  /// Starts the child. Throws StartFailure and std::system_error.
  ChildSupervisor(const RunOptions& options, const Hold& hold, const SignalInbox& signals,
                  const Command& command);

  /// Returns when no descendant is left: the child's exit status, or 128 + its signal.
  int wait();

  /// A loss was noticed while the child ran, or the lock was so close to its deadline that the
  /// child was ended.
  [[nodiscard]] bool lost() const noexcept { return lost_; }

 private:
  void check_lock();
  void check_revocation();
  void end_descendants();
  void signal_all(int number) const;
  void forward_signals();
  void reap();
  void follow_stop();
  void await_event() const;

  const RunOptions& options_;
  const Hold& hold_;
  const SignalInbox& signals_;
  Clock& clock_ = Clock::system();
  Terminal terminal_;
  bool foreground_;  ///< the child's group is in the terminal's foreground
  ChildProcess child_;
  Alarm alarm_;
  StopSchedule schedule_;
  StopSchedule::Phase told_ = StopSchedule::Phase::running;  ///< the last phase that was signalled
  Clock::time_point deadline_{};                             ///< the last one known from the hold
  bool lost_ = false;
  std::optional<int> status_{};  ///< the child's exit status, once it has ended
  bool childless_ = false;       ///< no descendant is left
  bool revoked_ = false;         ///< the child was told that somebody asked for the lock
  WakeEvent lock_lost_, asked_;
  std::stop_callback<std::function<void()>> on_loss_;  // the last members: they set the events
  std::stop_callback<std::function<void()>> on_revocation_;
};

}  // namespace latchkey::inline v1::cli
