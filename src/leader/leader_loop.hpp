// The two threads of a Leader.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <latchkey/clock.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/leader.hpp>
#include <latchkey/listener.hpp>
#include <latchkey/locks.hpp>

#include "core/mutex.hpp"
#include "core/thread_annotations.hpp"
#include "locks/async/async_observer.hpp"
#include "locks/backoff.hpp"

namespace latchkey::inline v1::detail {

/// Campaigns on one thread, which then watches the lock, and runs the callback on the other.
/// LeaderState has the transitions. Thread-safe.
class LeaderLoop {
 public:
  /// `options` are valid and complete.
  LeaderLoop(const Locks& locks, std::string key, Leader::Callback callback,
             const LeaderOptions& options);
  LeaderLoop(const LeaderLoop&) = delete;
  LeaderLoop& operator=(const LeaderLoop&) = delete;
  ~LeaderLoop() { stop(); }

  /// Called once, when the callback may use its Leader. `observer` is told when the loop has ended
  /// and its lock is released, on the thread that campaigned, and may then destroy the loop there;
  /// null: nobody. Throws std::system_error if a thread cannot be created.
  void start(AsyncObserver* observer = nullptr);
  /// Begins what `stop` completes: the callback is told to stop.
  void request_end() noexcept;
  /// Requests the end, and waits until the callback has ended and the lock is released. The
  /// destructor calls it.
  void stop() noexcept;
  /// Throws, after the end, Closed if the Locks were closed, and Cancelled after request_end.
  void throw_if_ended_early() const;

  [[nodiscard]] LeaderHealth health() const;
  /// Returns health() without `trouble`, whose text needs memory.
  [[nodiscard]] LeaderHealth brief_health() const noexcept;
  bool resign() noexcept;

  /// Whether this process is a forked child of the one that made the Leader: neither thread exists,
  /// and the mutex may be locked for ever.
  [[nodiscard]] bool is_inherited() const noexcept;

 private:
  /// The state of the callback's thread, which waits in `idle` and `ended`.
  enum class Work : std::uint8_t { idle, running, ended, quitting };

  // The thread that campaigns and watches.
  void supervise() noexcept;
  [[nodiscard]] bool is_over() const;
  void campaign() noexcept;
  void begin_term(Hold&& hold);
  void lead() noexcept;
  void watch_until_callback_ends() noexcept LATCHKEY_REQUIRES(mutex_);
  [[nodiscard]] std::optional<std::string_view> reason_to_stop() const noexcept
      LATCHKEY_REQUIRES(mutex_);
  void request_stop_of_callback(std::string_view reason) noexcept LATCHKEY_REQUIRES(mutex_);
  void end_term() noexcept;
  void fail(const char* why) noexcept;
  void pause() noexcept;
  void wait_until(Clock::time_point time) LATCHKEY_REQUIRES(mutex_);

  // The thread of the callback.
  void run_callbacks() noexcept;
  void call(const std::stop_token& stop, std::uint64_t term) noexcept;
  void note_callback_failed(const char* what) noexcept;

  [[nodiscard]] LeaderHealth brief_health_locked() const noexcept LATCHKEY_REQUIRES(mutex_);
  void publish(Event::Kind kind, std::uint64_t term, std::string_view text,
               Clock::duration led = {}) const noexcept;

  const Locks locks_;
  const std::string key_;
  AsyncObserver* observer_ = nullptr;
  const Leader::Callback callback_;
  const std::chrono::milliseconds lease_, stop_before_, longest_pause_;
  const AfterReturn after_return_;
  const pid_t process_;
  std::stop_source destroyed_;
  Backoff pauses_;           // used by the campaigning thread alone
  Clock::duration pause_{};  // the next pause; used by that thread alone

  mutable Mutex mutex_;
  std::condition_variable changed_;   ///< the campaigning thread waits
  std::condition_variable assigned_;  ///< the callback's thread waits
  LeaderState state_ LATCHKEY_GUARDED_BY(mutex_) = LeaderState::campaigning;
  Work work_ LATCHKEY_GUARDED_BY(mutex_) = Work::idle;
  std::optional<Hold> hold_ LATCHKEY_GUARDED_BY(mutex_);
  std::stop_token lost_ LATCHKEY_GUARDED_BY(mutex_);     ///< is stopped when the hold is lost
  std::stop_token revoked_ LATCHKEY_GUARDED_BY(mutex_);  ///< is stopped if somebody asks for it
  std::stop_source stop_ LATCHKEY_GUARDED_BY(mutex_);    ///< stops the callback of the current term
  std::uint64_t term_ LATCHKEY_GUARDED_BY(mutex_) = 0;
  Clock::time_point elected_at_ LATCHKEY_GUARDED_BY(mutex_){};
  bool closed_ LATCHKEY_GUARDED_BY(mutex_) = false;  ///< the Locks were closed
  bool resigns_ LATCHKEY_GUARDED_BY(mutex_) = false;
  bool failed_ LATCHKEY_GUARDED_BY(mutex_) = false;  ///< the callback of this term threw
  std::string trouble_ LATCHKEY_GUARDED_BY(mutex_);

  std::thread callback_thread_;
  std::thread supervisor_;
};

/// Makes the loop of a new Leader, which is not started yet. Throws what Locks::leader throws.
[[nodiscard]] std::unique_ptr<LeaderLoop> make_leader_loop(const Locks& locks, std::string key,
                                                           Leader::Callback callback,
                                                           const LeaderOptions& options);

}  // namespace latchkey::inline v1::detail
