// A job that runs at most once for each scheduled instant, in one of all processes.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <latchkey/attempt.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/cron.hpp>
#include <latchkey/detail/once_loop.hpp>
#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/listener.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/wait.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

template <class Text>
struct LockedOncePer;

/// How a failed run affects its instant. A run fails if its body throws, or its process ends.
enum class OnFailure : std::uint8_t {
  /// Another run may follow, in any process, until OncePerOptions::start_within is over. A run that
  /// fails after it has done its work is repeated.
  retry,
  /// None follows: at most one run begins for an instant.
  skip_instant,
};

/// Options of a OncePer, checked when it is made: a value out of range throws a
/// std::invalid_argument that names it. All processes use the same ones.
struct OncePerOptions {
  /// The instants are the multiples of the period since 1970-01-01T00:00:00Z, plus this: a job that
  /// runs daily at 03:00 UTC has a period of 24 h and an offset of 3 h. 0 to less than the period.
  std::chrono::milliseconds offset{0};
  /// How far the clock of each machine may be from the true time. Two clocks may then differ by
  /// twice that. 0 to the period.
  std::chrono::milliseconds clock_error = std::chrono::seconds(1);
  OnFailure on_failure = OnFailure::retry;
  /// How long after its instant a run may begin. 1 ms to the period; empty: the period.
  std::optional<std::chrono::milliseconds> start_within{};
  /// How long a run waits for another one of the same instant, which may fail. At most until it
  /// would be too late to begin. Only with OnFailure::retry.
  Wait wait = std::chrono::milliseconds(0);
};

/// The outcome of one OncePer::run.
enum class OnceOutcome : std::uint8_t {
  ran,    ///< the body ran here
  taken,  ///< another run of the instant is under way, or was done
  late,   ///< start_within is over, and the next instant has not come
};

/// The name of the enumerator.
[[nodiscard]] std::string_view to_string(OnceOutcome outcome) noexcept;

/// The result of OncePer::run without the body's own.
struct OnceReport {
  using Instant = std::chrono::system_clock::time_point;

  OnceOutcome outcome = OnceOutcome::late;
  Instant instant{};     ///< the one that the run was for
  std::string runner{};  ///< taken: who runs it or has run it, as LockTimeout::holder(), if known

  explicit operator bool() const noexcept { return outcome == OnceOutcome::ran; }
};

/// The result of OncePer::run.
template <class Value>
struct OnceResult : OnceReport {
  std::optional<Value> value{};  ///< the result of the body; empty: it did not run here
};
template <>
struct OnceResult<void> : OnceReport {};

/// The parameter that a body may take. Valid until the body returns.
struct OnceRun {
  OnceReport::Instant instant;
  /// A stop is requested if the lock of the run is lost: another run of the instant may begin.
  std::stop_token stop;
  const Hold& hold;

  /// Whether the lock is lost, as Hold::lost() says it: by comparing clocks, so also in a process
  /// that was frozen.
  [[nodiscard]] bool lost() const noexcept { return hold.lost(); }
};

namespace detail {

struct OnceJob;
struct ObservedRun;
class OnceCoroutine;

/// One run, from the attempt to take its instant until it is marked as done. Its destruction after
/// the grant and without `finish` is a failure of the body.
class OnceAttempt {
 public:
  /// For the instant of now. A `take` follows. `origin`: the LOCKED_ONCE_PER, if there is one.
  explicit OnceAttempt(std::shared_ptr<const OnceJob> job, std::stop_token cancel = {},
                       const Origin& origin = {});
  OnceAttempt(const OnceAttempt&) = delete;
  OnceAttempt& operator=(const OnceAttempt&) = delete;
  ~OnceAttempt();

  /// Tries to take the instant.
  void take();
  [[nodiscard]] bool may_run() const noexcept { return hold_.has_value(); }
  [[nodiscard]] const OnceReport& report() const noexcept { return report_; }
  [[nodiscard]] OnceRun run() const;

  /// The body has returned: marks the instant as done.
  void finish();
  /// The body has thrown the exception in flight.
  void note_exception() noexcept;

 private:
  friend class OnceCoroutine;

  /// How the end of a body marks its instant.
  enum class Mark : std::uint8_t {
    keep,    ///< the lease that the run has lasts long enough
    extend,  ///< the lease has to be extended first
    retake,  ///< the lock was lost: it is taken anew, if nobody else has it
  };

  /// True: the instant may begin. Otherwise the attempt is over.
  [[nodiscard]] bool begin();
  [[nodiscard]] Attempt attempt() const;
  void observe(Attempt& attempt);
  void granted(Hold&& hold);
  void busy(const LockTimeout& error);
  void give_up();
  /// Throws LockLost if the lock was lost, with OnFailure::skip_instant.
  [[nodiscard]] Mark how_to_mark();
  [[nodiscard]] Attempt retake_attempt() const;
  void mark();
  void keep_mark() noexcept;
  void marked() noexcept;
  void not_marked(Error& error) noexcept;
  void fail(std::string_view why) noexcept;
  void publish(Event::Kind kind, std::string_view text) const noexcept;
  [[noreturn]] void throw_lost();

  std::shared_ptr<const OnceJob> job_;
  std::stop_token cancel_;  ///< ends the wait for another run
  Origin origin_;
  std::chrono::milliseconds mark_lease_{};
  OnceReport report_;
  std::string key_{};
  /// Reports a decorated call, and ends after its hold; null: nobody observes it.
  std::unique_ptr<ObservedRun> observed_;
  std::optional<Hold> hold_{};
  Clock::time_point began_{};
};

template <class Body>
constexpr bool takes_run = std::is_invocable_v<Body&, const OnceRun&>;

template <class Body>
decltype(auto) call_once_body(Body& body, const OnceAttempt& attempt) {
  if constexpr (takes_run<Body>) {
    return std::invoke(body, attempt.run());
  } else {
    static_assert(std::is_invocable_v<Body&>,
                  "latchkey: the body of OncePer::run takes nothing or a const latchkey::OnceRun&");
    return std::invoke(body);
  }
}

}  // namespace detail

/// Runs a body at most once for each instant: each multiple of a period on the wall clock (UTC), or
/// each instant of a cron expression (latchkey/cron.hpp), in one of all processes that have a
/// OncePer with the same key on the same backend.
///
///     const latchkey::OncePer report = locks.once_per("report", 15min);
///     report.run_until(stop, [] { send_report(); });  // stop: of a std::jthread, or of SIGTERM
///
/// A run is for the last instant that has come by Clock::wall(). Its lock has the key
/// `latchkey_once:<key>:<instant>`, and is an ordinary REENTRANT one that the watchdog renews
/// (OnFailure::retry) or that has a lease to its end (OnFailure::skip_instant). When the run is
/// done, the key stays locked for the period and twice the clock_error, by the backend's clock:
/// until no process can still begin a run of that instant. Nothing stays behind after it.
///
/// Promised while the backend keeps its data and no clock is further from the true time than
/// clock_error, now or at any time later:
///
/// | on_failure   | promise                                                                    |
/// |--------------|----------------------------------------------------------------------------|
/// | skip_instant | at most one run begins for an instant                                      |
/// | retry        | no run begins for an instant after one that returned `ran`; no two at a    |
/// |              | time, except after a loss of the lock, which OnceRun tells (guarantees.md) |
///
/// Not promised: that any process runs an instant (somebody has to call run() in time), and that
/// the runs of two instants do not overlap: if they must not, the body takes a lock.
///
/// Made by Locks::once_per, whose Locks it keeps alive. Thread-safe; copies are the same job.
class OncePer {
 public:
  using Instant = OnceReport::Instant;

  /// Runs `body`, which takes nothing or a `const OnceRun&`, unless the current instant is taken or
  /// it is too late for it.
  ///
  /// An exception of the body is thrown again, and the listener gets `once_failed`. Throws
  /// BackendUnavailable and BackendRefused; Error::body_ran() tells those that follow the body: its
  /// instant could not be marked, and may be run again. Throws LockLost after a body whose lock was
  /// lost: another process may have run the same instant.
  template <class Body>
  auto run(Body&& body) const -> OnceResult<std::remove_cvref_t<
      decltype(detail::call_once_body(body, std::declval<const detail::OnceAttempt&>()))>> {
    detail::OnceAttempt attempt(job_);
    return run_attempt(attempt, body);
  }

  /// Runs `body` at each instant until a stop is requested or the Locks are closed: the loop of a
  /// scheduler. Sleeps on this thread until the next instant; a stop request ends the sleep, and
  /// the wait for another run, at once. Begins with the current instant, if it is in time.
  ///
  /// No error ends the loop. A run that fails is told to the listener as `once_failed` (without
  /// one, on std::clog) and tried again after a pause of 1 s to 1 min, while its instant lasts and
  /// nobody else has run it; with OnFailure::skip_instant only what failed before the body is tried
  /// again. A stop request does not end a body: it may ask `stop` itself. If a body takes longer
  /// than an instant lasts, the instants that it covers are not run here. A clock that is set is
  /// noticed after a minute.
  template <class Body>
  void run_until(const std::stop_token& stop, Body&& body) const {
    detail::OnceLoop loop(job_, stop);
    while (loop.await_run()) {
      try {
        detail::OnceAttempt attempt(job_, stop);
        loop.begun(attempt.report());
        loop.done(run_attempt(attempt, body));
      } catch (...) {
        loop.failed();
      }
    }
  }

  /// The last instant that has come.
  [[nodiscard]] Instant current_instant() const;
  /// The first instant after now: for schedulers.
  [[nodiscard]] Instant next_instant() const;

  [[nodiscard]] const std::string& key() const noexcept;
  /// 0 if the instants are those of a Cron.
  [[nodiscard]] std::chrono::milliseconds period() const noexcept;

 private:
  friend class Locks;
  friend class detail::OnceCoroutine;
  template <class Text>
  friend struct LockedOncePer;

  OncePer(const Locks& locks, std::string key, std::chrono::milliseconds period,
          const OncePerOptions& options);
  OncePer(const Locks& locks, std::string key, const Cron& cron, const OncePerOptions& options);

  template <class Body>
  using Returned = decltype(detail::call_once_body(std::declval<Body&>(),
                                                   std::declval<const detail::OnceAttempt&>()));

  /// `origin` is what events and errors name as the caller.
  template <class Body>
  auto run_for(const Origin& origin, Body& body) const {
    detail::OnceAttempt attempt(job_, {}, origin);
    return run_attempt(attempt, body);
  }

  template <class Body>
  static auto run_attempt(detail::OnceAttempt& attempt, Body& body)
      -> OnceResult<std::remove_cvref_t<Returned<Body>>> {
    OnceResult<std::remove_cvref_t<Returned<Body>>> result;
    attempt.take();
    static_cast<OnceReport&>(result) = attempt.report();
    if (!attempt.may_run()) return result;
    try {
      if constexpr (std::is_void_v<Returned<Body>>) {
        detail::call_once_body(body, attempt);
      } else {
        result.value.emplace(detail::call_once_body(body, attempt));
      }
    } catch (...) {
      attempt.note_exception();
      throw;
    }
    attempt.finish();
    return result;
  }

  std::shared_ptr<const detail::OnceJob> job_;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
// tidy: long-file because a run, its loop and its options are one class
