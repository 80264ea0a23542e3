// `latchkey top`: the locks of a backend, live.
// SPDX-License-Identifier: BSL-1.0
#include "cli/top/top.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/connection.hpp"
#include "cli/output.hpp"
#include "cli/poll_events.hpp"
#include "cli/top/full_screen.hpp"
#include "cli/top/sampler.hpp"
#include "cli/top/top_controls.hpp"
#include "cli/top/top_view.hpp"

namespace latchkey::inline v1::cli {
namespace {

/// The main loop: waits for keys, signals and samples, and draws after each of them.
class Top {
 public:
  Top(const Locks& locks, const TopOptions& options, const SignalInbox& signals)
      : options_(options),
        signals_(signals),
        backend_(locks.describe()),
        controls_(options.order),
        sampler_(locks, options, sampled_) {}
  Top(const Top&) = delete;
  Top& operator=(const Top&) = delete;
  ~Top() = default;

  int run() {
    const int status = loop();
    screen_.leave();     // before the sampler ends, which may wait for a server
    signals_.restore();  // a signal ends the process at once
    return status;
  }

 private:
  int loop() {
    draw();
    for (;;) {
      pollfd events[] = {{signals_.descriptor(), POLLIN, 0},
                         {STDIN_FILENO, POLLIN, 0},
                         {sampled_.descriptor(), POLLIN, 0}};
      ::poll(events, std::size(events), -1);
      if (const std::optional<int> status = read_signals()) return *status;
      if ((events[1].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) return exit_code::success;
      if ((events[1].revents & POLLIN) != 0) read_keys();
      if (controls_.quits()) return exit_code::success;
      if ((events[2].revents & POLLIN) != 0) sampled_.reset();
      draw();
    }
  }

  /// Returns the exit status if a signal ends the program. Ctrl-C is the usual way to do that.
  std::optional<int> read_signals() {
    while (const std::optional<int> signal = signals_.next()) {
      if (*signal == SIGINT) return exit_code::success;
      if (*signal == SIGWINCH) screen_.clear();
      const DefaultAction action = default_action(*signal);
      if (action == DefaultAction::terminate) return exit_code::signal_base + *signal;
      if (action == DefaultAction::stop) stop();
    }
    return std::nullopt;
  }

  // SIGTSTP and not SIGSTOP: the kernel ignores it if nobody could continue this process.
  void stop() {
    screen_.leave();
    sigset_t stop;
    ::sigemptyset(&stop);
    ::sigaddset(&stop, SIGTSTP);
    ::raise(SIGTSTP);
    ::pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
    ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);
    await_foreground();
    screen_.enter();
  }

  // In the background the terminal is another program's.
  static void await_foreground() {
    for (;;) {
      const pid_t front = ::tcgetpgrp(STDIN_FILENO);
      if (front == -1 || front == ::getpgrp()) return;
      ::raise(SIGSTOP);
    }
  }

  void read_keys() {
    controls_.type(screen_.typed(), rows_on_screen(screen_.size()));
    sampler_.pause(controls_.paused());
  }

  void draw() {
    // While it is paused, only the order of the rows changes.
    const LiveSampler::State state = sampler_.state(controls_.order());
    controls_.limit_rows(state.rows.size());
    TopView view;
    view.backend = backend_;
    view.interval = options_.interval;
    view.paused = controls_.paused();
    view.locks = state.locks;
    view.awaited_keys = state.awaited_keys;
    view.waiters = state.waiters;
    view.knows_waiters = state.knows_waiters;
    view.progress = state.progress;
    view.error = state.error;
    view.order = controls_.order();
    view.edits_filter = controls_.edits_filter();
    view.shows_details = controls_.shows_details();
    view.first = controls_.first();
    view.rows = state.rows;
    screen_.draw(screen_lines(view, screen_.size()));
    sampler_.show(visible(state.rows));
  }

  [[nodiscard]] std::vector<std::string> visible(const std::vector<LockRow>& rows) const {
    std::vector<std::string> keys;
    const std::size_t first = controls_.first();
    const std::size_t end = std::min(rows.size(), first + rows_on_screen(screen_.size()));
    for (std::size_t index = first; index < end; ++index) keys.push_back(rows[index].key);
    return keys;
  }

  const TopOptions& options_;
  const SignalInbox& signals_;
  const std::string backend_;
  FullScreen screen_;
  TopControls controls_;
  WakeEvent sampled_;
  LiveSampler sampler_;  // destroyed first: it uses the event
};

}  // namespace

int run_top(const TopOptions& options, const SignalInbox& signals) {
  Options connect_options;
  connect_options.listener = silent_listener();  // stderr is the screen
  const Locks locks = connect(choose_place(options.connection), std::move(connect_options));
  return Top(locks, options, signals).run();
}

}  // namespace latchkey::inline v1::cli
