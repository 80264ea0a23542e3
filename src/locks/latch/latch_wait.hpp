// The decisions of a wait for a latch, without a clock, a thread and I/O: for the simulator, too.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <latchkey/clock.hpp>
#include <latchkey/wait.hpp>

namespace latchkey::inline v1::detail {

/// One wait for a latch. Its caller carries out step() and reports what happened, until the wait
/// has ended.
///
/// | step        | the caller                           | reports                    | next       |
/// |-------------|--------------------------------------|----------------------------|------------|
/// | read        | reads the count                      | on_count, or on_no_answer  | any other  |
/// | subscribe   | subscribes to the latch, once        | on_subscribed              | read       |
/// | sleep       | sleeps until until() or it is woken  | on_wake                    | read       |
/// | opened      | returns true                         |                            |            |
/// | timed_out   | returns false                        |                            |            |
/// | unavailable | throws BackendUnavailable            |                            |            |
///
/// Because it reads after it has subscribed and after each message, it misses no message that comes
/// after the subscription. The sleeps end early enough to make up for a message that is lost.
class LatchWait {
 public:
  struct Settings {
    std::chrono::milliseconds command_timeout;    ///< Options::command_timeout
    std::chrono::milliseconds unavailable_after;  ///< Options::unavailable_after
    bool pushes;                                  ///< Capabilities::pushes
  };
  enum class Step : std::uint8_t { read, subscribe, sleep, opened, timed_out, unavailable };

  LatchWait(Wait wait, const Settings& settings, Clock::time_point now) noexcept;

  [[nodiscard]] Step step() const noexcept { return step_; }
  /// When the read, the subscription or the sleep ends at the latest.
  [[nodiscard]] Clock::time_point until() const noexcept { return until_; }
  /// Why the last read had no answer. Empty: it had one.
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

  void on_count(std::uint64_t count, Clock::time_point now) noexcept;
  /// There is no answer, or none until until(). `reason`: not empty.
  void on_no_answer(std::string reason, Clock::time_point now) noexcept;
  /// The subscription is there, or failed: the wait then polls.
  void on_subscribed(Clock::time_point now) noexcept;
  void on_wake(Clock::time_point now) noexcept;

 private:
  void read(Clock::time_point now) noexcept;
  void resume(Clock::time_point now) noexcept;
  [[nodiscard]] Clock::time_point end() const noexcept;

  Settings settings_;
  bool forever_;
  std::chrono::milliseconds grace_;  ///< how much longer than the wait the last read may take
  Clock::time_point deadline_;       ///< the end of a wait that is not forever
  Clock::time_point silent_since_;   ///< when the last answer came, or the wait began
  std::chrono::milliseconds pause_{};
  bool subscribed_ = false;
  std::string trouble_;
  Step step_ = Step::read;
  Clock::time_point until_;
};

}  // namespace latchkey::inline v1::detail
