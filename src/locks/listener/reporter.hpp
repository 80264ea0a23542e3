// The reports of a space to its listener.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/error.hpp>
#include <latchkey/listener.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/options.hpp>

#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "locks/coordinator/coordinator_context.hpp"
#include "locks/listener/notifier.hpp"

namespace latchkey::inline v1::detail {

class DueTimes;

/// Reports to the listener of a space: what its coordinators decided, what an unlock or a
/// destructor could not throw, and the connections of its backend. Thread-safe.
class Reporter {
 public:
  /// If no thread can be started that calls the listener, the timer thread of `due_times` tries
  /// again. All must outlive this.
  Reporter(const Options& options, const Backend& backend, DueTimes& due_times);

  /// Which events coordinators make.
  [[nodiscard]] CoordinatorSettings::Events wanted() const noexcept { return wanted_; }

  void post(Event&& event) noexcept;
  /// The stop is requested on the thread that calls the listener: its callbacks are user code.
  void post(std::stop_source&& stop) noexcept;
  /// There was no memory for so many events: the listener gets their number.
  void count_unreported(std::size_t events) noexcept { notifier_.drop(events); }
  /// Reports that an unlock or a destructor failed, unless an event of the hold has said so.
  /// Without a listener the first failure is written to std::clog.
  void unlock_failed(const LockError& why) noexcept;
  /// Reports a failure for which there is no LockError. Without a listener only the first
  /// unlock_error is written, to std::clog.
  void error(Event::Kind kind, std::string_view key, LockType type, std::string_view text) noexcept;
  /// Posts `event`. Without a listener a warning or a finding about lock order goes to std::clog.
  void publish(const Event& event) noexcept;

  // --- the backend ---
  /// Publishes Backend::warning.
  void warn();
  /// Publishes a warning about the backend, of which `text` is the clause after its name.
  void warn(std::string_view text) noexcept;
  /// A notification said that Backend::warning has changed.
  void warning_changed() noexcept;
  /// Reports the connections that the backend has when its Locks are made.
  void connections_found();
  /// A notification of abandoned. A key of others, which has another prefix, is told whole.
  void abandoned(const Notification& notification) noexcept;
  /// A notification of link_up or link_down.
  void link_changed(const Notification& notification) noexcept;

  // --- the thread that calls the listener ---
  bool has_thread() noexcept { return notifier_.has_thread(); }
  [[nodiscard]] const Notifier& notifier() const noexcept { return notifier_; }
  bool flush(std::chrono::milliseconds patience) { return notifier_.flush(patience); }
  void finish(std::chrono::milliseconds patience) { notifier_.finish(patience); }

  void lock_for_fork() noexcept LATCHKEY_FORK_HANDLER;
  void unlock_after_fork() noexcept LATCHKEY_FORK_HANDLER;
  void forget_parent() noexcept LATCHKEY_FORK_HANDLER;

 private:
  /// A server without a connection.
  struct Down {
    std::string server;
    bool never_up;  ///< Startup::allow_down: no loss has been reported
  };

  void print_first(Event::Kind kind, std::string_view text);
  void connection_found(const Connection& found);
  void connection_changed(Event::Kind kind, std::string_view server, std::string_view text);
  /// Notes whether `event.server` is down. False: the event says nothing new. May change
  /// `event.kind`.
  bool note_change(Event& event) LATCHKEY_REQUIRES(mutex_);

  const Options& options_;
  const Backend& backend_;
  DueTimes& due_times_;
  const CoordinatorSettings::Events wanted_;
  Notifier notifier_;
  std::atomic<bool> told_{false};  ///< print_first has written
  SmallMutex mutex_;
  std::vector<Down> down_ LATCHKEY_GUARDED_BY(mutex_);
};

}  // namespace latchkey::inline v1::detail
