// The options of `latchkey run` and `latchkey once`, and the words that they share.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/once_per.hpp>
#include <latchkey/wait.hpp>

#include "cli/connection.hpp"
#include "cli/output.hpp"
#include "once/once_schedule.hpp"

namespace CLI {
class App;
}

namespace latchkey::inline v1::cli {

/// As OncePer: the lock of the instant stays locked after a run that counts, until no process can
/// begin the instant any more.
struct OncePlan {
  detail::OnceSchedule schedule;
  OnFailure on_failure = OnFailure::retry;
  detail::OnceSchedule::Wall instant{};
  std::chrono::milliseconds mark{};  ///< for how long the instant stays locked

  [[nodiscard]] std::string text() const { return detail::instant_text(instant); }
  [[nodiscard]] bool is_in_time() const {
    return schedule.is_in_time(instant, std::chrono::system_clock::now());
  }
  /// `wait`, or until it is too late to begin the command.
  [[nodiscard]] Wait limit(Wait wait) const {
    return schedule.wait_at_most(wait.length(), instant, std::chrono::system_clock::now());
  }
  /// A command with this exit status has run its instant.
  [[nodiscard]] bool counts(int status) const noexcept {
    return status == 0 || on_failure == OnFailure::skip_instant;
  }
};

/// The options of `latchkey run` and `latchkey once`, as values.
struct RunOptions {
  enum class OnLost : unsigned char {
    term,    ///< the child gets SIGTERM, and is killed before the lock's deadline
    report,  ///< the child runs on; a line on stderr reports that it is unprotected
  };

  enum class OnRevoke : unsigned char {
    ignore,  ///< the tool does not listen
    term,    ///< the child gets SIGTERM, once, and has all the time it takes
  };

  ConnectionOptions connection{};
  std::vector<std::string> keys{};
  LockType type = LockType::REENTRANT;
  std::optional<std::uint32_t> permits{};  ///< the key is a semaphore of so many permits
  Wait wait = forever;
  Lease lease = watchdog;
  std::chrono::milliseconds watchdog_period = std::chrono::seconds(30);
  std::chrono::milliseconds hold_for{};
  std::chrono::milliseconds kill_after = std::chrono::seconds(5);
  OnLost on_lost = OnLost::term;
  OnRevoke on_revoke = OnRevoke::ignore;
  int conflict_exit_code = exit_code::busy;
  bool quiet = false;
  std::optional<OncePlan> once{};  ///< the key is that of an instant
  std::vector<std::string> command{};

  /// The length of the lease, or the time of --held-at-most if that is shorter.
  [[nodiscard]] std::chrono::milliseconds lease_length() const noexcept {
    return detail::limited_length(lease, watchdog_period);
  }
};

/// The shared options as words of the command line.
struct CommandWords {
  ConnectionOptions connection{};
  std::string wait{};
  std::string watchdog = "30s";
  std::string kill_after = "5s";
  std::string on_lost = "term";
  int conflict_exit_code = exit_code::busy;
  bool quiet = false;
};

/// `words` must outlive the command. Its values are the defaults.
void add_command_options(CLI::App& app, CommandWords& words);

/// The values, and the command that follows `--`. `extra`: the words before it that are not of the
/// subcommand `name`; the first word of a command without `--` may have been taken for the URI.
/// Throws UsageError.
[[nodiscard]] RunOptions command_options(const std::string& name, const CommandWords& words,
                                         const std::vector<std::string>& extra,
                                         const std::vector<std::string>& command);

}  // namespace latchkey::inline v1::cli
