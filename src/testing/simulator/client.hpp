// One simulated client: a process with its clock and its callers.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <deque>

#include "testing/simulator/callers/caller_context.hpp"
#include "testing/simulator/callers/multi_key_caller.hpp"
#include "testing/simulator/callers/single_key_caller.hpp"

namespace latchkey::inline v1::sim {

/// Starts, freezes and crashes the process, and connects its coordinators with the callers, the
/// network and the judges.
class Client final : private ProcessHost {
 public:
  Client(const Environment& environment, std::uint32_t number);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() = default;

  // --- what reaches it ---
  /// A scheduled event of one of its coordinators or callers.
  void handle(const ScheduledEvent& event);
  void answered(Request& request, Outcome outcome);
  void notified(const Notification& notification);

  // --- faults ---
  /// Stops the process for a random time, as SIGSTOP does.
  void freeze();
  void freeze_for(Clock::duration length);
  /// Ends the process; another one takes its place. Its holds stay at the store.
  void crash();
  /// A frozen process receives its events at this time.
  [[nodiscard]] Clock::duration frozen_until() const noexcept { return frozen_until_; }

  // --- the end of a run ---
  void thaw() noexcept;
  void close();
  /// Fails the run if a call was never answered or a coordinator is left.
  void check_idle();
  /// Ends the process without any effect on the others.
  void tear_down();

  [[nodiscard]] std::uint64_t grants() const noexcept { return context_.grants; }
  [[nodiscard]] std::uint64_t losses() const noexcept { return losses_; }

 private:
  [[nodiscard]] static std::int64_t random_drift(World& world);
  ProcessHost& host() noexcept { return *this; }
  void start_process(std::uint64_t first_id);
  void rest_all(Clock::duration least, Clock::duration most);
  void coordinator_timer(std::uint32_t key);
  [[nodiscard]] bool waits_locally(std::uint32_t key) const;

  // --- ProcessHost ---
  bool answers_at_once(Process& process, Request& request, Outcome& outcome) override;
  void submitted(Process& process, Request& request) override;
  void woken(Process& process, Call& call) override;
  void published(Process& process, const Event& event) override;
  void before_event(Process& process, Coordinator& coordinator) override;
  void after_event(Process& process, Coordinator& coordinator) override;

  CallerContext context_;
  std::deque<SingleKeyCaller> callers_;
  std::deque<MultiKeyCaller> multi_callers_;
  Clock::duration frozen_until_{};
  std::uint64_t losses_ = 0;
};

}  // namespace latchkey::inline v1::sim
