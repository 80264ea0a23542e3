// One client process without threads: its coordinators, driven as LockSpace drives them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

#include "locks/coordinator/coordinator.hpp"
#include "locks/coordinator/coordinator_context.hpp"
#include "locks/coordinator/event_context.hpp"

namespace latchkey::inline v1::sim {

using detail::Actions;
using detail::Answer;
using detail::Call;
using detail::Coordinator;
using detail::CoordinatorContext;
using detail::CoordinatorSettings;
using detail::EventContext;
using detail::HoldLimits;
using detail::RemoteHold;

class Process;

/// Carries out the actions of a process's coordinators.
class ProcessHost {
 public:
  /// True if the backend answers at once: the request is then not submitted.
  virtual bool answers_at_once(Process&, Request&, Outcome&) { return false; }
  virtual void submitted(Process& process, Request& request) = 0;
  /// The call was answered, or has a new `wake_at`.
  virtual void woken(Process& process, Call& call) = 0;
  virtual void published(Process&, const Event&) {}
  virtual void before_event(Process&, Coordinator&) {}
  /// Called before an idle coordinator is dropped.
  virtual void after_event(Process&, Coordinator&) {}

 protected:
  ~ProcessHost() = default;
};

/// Has a coordinator for each key in use and drops it when it is idle. Carries out all actions of
/// one event before the next event.
class Process final : private detail::ImmediateBackend {
 public:
  Process(std::uint32_t its_number, Clock& clock, const CoordinatorSettings& settings,
          std::uint64_t seed, ProcessHost& host, std::uint64_t first_id = 1);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Frees the memory of a run that ended at a violation.
  ~Process();

  const std::uint32_t number;

  [[nodiscard]] Clock& clock() noexcept { return clock_; }
  [[nodiscard]] Clock::time_point now() const noexcept { return clock_.now(); }
  [[nodiscard]] const CoordinatorSettings& settings() const noexcept { return settings_; }

  /// Null if the key is not in use.
  [[nodiscard]] Coordinator* find(std::string_view key) noexcept;
  /// Made if the key is not in use.
  [[nodiscard]] Coordinator& at(std::string_view key);

  /// Handles one event: `event(Coordinator&, EventContext&)`. `caller` is the call whose thread
  /// brings it.
  template <class Do>
  void handle(Coordinator& coordinator, Do&& event, Call* caller = nullptr) {
    host_.before_event(*this, coordinator);
    Actions actions;
    EventContext context(clock_, actions, clock_.now());
    context.caller = caller;
    if (caller != nullptr) context.immediate = this;
    event(coordinator, context);
    carry_out(coordinator, context, caller);
  }

  void tick(Coordinator& coordinator, Call* caller = nullptr);
  void completed(Request& request, Outcome outcome);
  void notified(const Notification& notification);
  void close();

  [[nodiscard]] bool closed() const noexcept { return context_.closed; }
  [[nodiscard]] bool idle() const noexcept { return coordinators_.empty() && open_.empty(); }

  // --- the end of a process ---
  /// Undoes one lock() of an owner, or releases what a caller was granted, that is no more. Only
  /// before `tear_down`.
  void abandon(std::string_view key, Owner owner, LockType type);
  void abandon(std::string_view key, RemoteHold& hold, LockType type, bool by_watchdog,
               HoldLimits::Number limit);

  /// Answers the request of one member of a request for several keys. Only before `tear_down`.
  void abandon(RemoteHold& claim);

  /// Answers every request `gone`, long after every lease, until no coordinator is left. The
  /// answer is false if one is left nevertheless. Every local hold must have been released.
  [[nodiscard]] bool tear_down();

  /// Lost holds whose stop token somebody had requested.
  std::size_t stops = 0;

 private:
  [[nodiscard]] bool answer(Request& request, Outcome& outcome) noexcept override {
    return host_.answers_at_once(*this, request, outcome);
  }
  void carry_out(Coordinator& coordinator, EventContext& context, Call* caller);
  void complete_at_once(Coordinator& coordinator, EventContext& context);
  void tear_down_once(Coordinator& coordinator, Clock::time_point now, bool first);
  void drop_if_idle(Coordinator& coordinator);
  template <class Do>
  void end_hold(std::string_view key, Do&& event);
  [[nodiscard]] std::vector<Coordinator*> all() const;

  Clock& clock_;
  CoordinatorSettings settings_;
  CoordinatorContext context_;
  ProcessHost& host_;
  std::vector<std::unique_ptr<Coordinator>> coordinators_;
  std::vector<std::unique_ptr<Coordinator>> spares_;  // for the next key
  std::vector<Request*> open_;
  std::vector<std::unique_ptr<Call>> last_calls_;  // on behalf of callers that are no more
};

}  // namespace latchkey::inline v1::sim
