// A leader: a callback that runs in one process at a time.
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

#include <latchkey/clock.hpp>
#include <latchkey/locks.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

namespace detail {
class LeaderLoop;
}  // namespace detail

/// How a Leader reacts if its callback returns without being told to stop.
enum class AfterReturn : std::uint8_t {
  campaign,  ///< it pauses, and campaigns for another term
  end,       ///< it ends; the other candidates continue
};

/// Options of a Leader, checked when it is made: a value out of range throws a
/// std::invalid_argument that names it.
struct LeaderOptions {
  /// How long before its deadline a Leader that cannot renew its lock tells the callback to stop:
  /// the time that the callback has to end. 1 ms to half of Options::watchdog; empty: a sixth of
  /// Options::watchdog, 5 s of 30 s.
  std::optional<std::chrono::milliseconds> stop_before{};
  AfterReturn after_return = AfterReturn::campaign;
  /// How long a Leader waits after a term before it campaigns again, so that other candidates are
  /// elected first. 1 ms to 1 day.
  std::chrono::milliseconds pause = std::chrono::seconds(1);
  /// Each callback that throws and each campaign that fails doubles the pause, up to this; then it
  /// varies between a half and the whole. From `pause` to 1 day.
  std::chrono::milliseconds longest_pause = std::chrono::seconds(30);
};

/// | state       | ends when                                                | next             |
/// |-------------|----------------------------------------------------------|------------------|
/// | campaigning | it is granted the lock                                   | leading          |
/// |             | the backend does not answer or refuses                   | pausing          |
/// | leading     | the lock is lost, or only `stop_before` remains until    | stopping         |
/// |             | its deadline; resign(); Locks::revoke; destruction       |                  |
/// |             | the callback ended by itself                             | pausing or ended |
/// | stopping    | the callback, which was told to stop, has ended          | pausing          |
/// | pausing     | the pause is over                                        | campaigning      |
/// | ended       | never: AfterReturn::end, or the Locks were closed        |                  |
///
/// The lock is released between the end of the callback and the state after it.
enum class LeaderState : std::uint8_t { campaigning, leading, stopping, pausing, ended };

/// The name of the enumerator.
[[nodiscard]] std::string_view to_string(LeaderState state) noexcept;

/// The health of a Leader at one moment.
struct LeaderHealth {
  LeaderState state = LeaderState::campaigning;
  bool is_leader = false;  ///< Leader::is_leader()
  std::uint64_t term = 0;  ///< Leader::term()
  /// When the current term began; empty: not a leader.
  std::optional<Clock::time_point> since{};
  /// Why the last campaign failed or the last callback threw; empty after an election.
  std::string trouble{};
};

/// Runs a callback in one process at a time: while this Leader holds the FENCED lock of its key,
/// which the watchdog renews.
///
///     latchkey::Leader leader =
///         locks.leader("leader:billing", [](const std::stop_token& stop, std::uint64_t term) {
///           while (!stop.stop_requested()) bill_next(term);
///         });
///
/// Made by Locks::leader. Thread-safe, except for construction and destruction. A Leader has two
/// threads of its own, which Locks::leader makes: one campaigns and watches the lock, and one runs
/// the callback of every term. Callbacks registered on the stop token run on the first one, and
/// must not block.
///
/// Promised: of all Leaders of one key, is_leader() is true for at most one while the backend keeps
/// its data, because it compares the clock with the deadline of the lock. A Leader that cannot
/// renew requests a stop `stop_before` before that deadline; the next one is elected after it. If
/// the lock ends at the backend earlier (a forced release, lost data), the stop follows at the next
/// check, at most a third of Options::watchdog later; until then two Leaders can both believe.
///
/// Not promised: that a callback heeds its stop token, nor that a process that was frozen past its
/// deadline does nothing after it. The term protects from both: the resources that the callback
/// writes to refuse lower terms.
///
/// In a forked child every Leader has ended, and its destruction does nothing.
class Leader {
 public:
  /// Does the leader's work until it is done or `stop` is requested. `term` is larger than that of
  /// every earlier leader of the key: it is the lock's fencing token. If it throws, the listener
  /// gets a `hidden_error`, and the Leader releases the lock, pauses and campaigns again. It may
  /// use its Leader, even before Locks::leader has returned, but must not destroy it.
  using Callback = std::function<void(std::stop_token stop, std::uint64_t term)>;

  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  /// Requests a stop, waits until the callback has ended, and releases the lock. The release waits
  /// for the backend's reply, at most Options::command_timeout.
  ~Leader();

  /// Whether this Leader holds the lock and the lock's deadline has not passed. Also true while a
  /// callback that was told to stop ends in time. Reads the clock and sends nothing.
  [[nodiscard]] bool is_leader() const noexcept;

  /// When the current term began, by Locks::clock(); empty: not a leader.
  [[nodiscard]] std::optional<Clock::time_point> since() const noexcept;

  /// The current term, or the last one; 0: never elected.
  [[nodiscard]] std::uint64_t term() const noexcept;

  /// All of it at one moment, for health probes.
  [[nodiscard]] LeaderHealth health() const;

  /// Requests a stop of the current callback and returns: the lock is released once the callback
  /// has ended, and this Leader campaigns again after the pause. False, and nothing happens, if no
  /// callback runs. May be called by the callback.
  bool resign() noexcept;

 private:
  friend class Locks;
  /// Starts to campaign and returns.
  Leader(const Locks& locks, std::string key, Callback callback, const LeaderOptions& options);

  std::unique_ptr<detail::LeaderLoop> loop_;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
