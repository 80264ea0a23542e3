// When OncePer::run_until runs its body.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <memory>
#include <stop_token>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

struct OnceReport;

namespace detail {

struct OnceJob;
struct OnceLoopState;

/// Waits for the instants of a job, and decides after each run when the next one begins. Used by
/// one thread.
///
/// | what became of the run        | the next one                                         |
/// |-------------------------------|------------------------------------------------------|
/// | ran, taken, late              | at the next instant                                  |
/// | an exception                  | after a pause of 1 s to 1 min, which doubles, unless |
/// |                               | the instant has passed by then                       |
/// | Closed, or a stop requested   | none                                                 |
class OnceLoop {
 public:
  OnceLoop(std::shared_ptr<const OnceJob> job, std::stop_token stop);
  OnceLoop(const OnceLoop&) = delete;
  OnceLoop& operator=(const OnceLoop&) = delete;
  ~OnceLoop();

  /// Sleeps until a run is due. False: a stop was requested, or the Locks are closed.
  [[nodiscard]] bool await_run();
  /// A run begins, for the instant of its report.
  void begun(const OnceReport& report) noexcept;
  void done(const OnceReport& report) noexcept;
  /// A run has thrown the exception in flight.
  void failed() noexcept;

 private:
  const std::unique_ptr<OnceLoopState> state_;
};

}  // namespace detail
}  // namespace latchkey::inline v1
#pragma GCC visibility pop
