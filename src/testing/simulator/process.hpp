// One client process without threads: its coordinators, driven as LockSpace drives them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

#include "locks/actions.hpp"
#include "locks/coordinator.hpp"
#include "locks/coordinator_context.hpp"
#include "locks/event_context.hpp"

namespace latchkey::sim {

using detail::Actions;
using detail::Answer;
using detail::Call;
using detail::Coordinator;
using detail::CoordinatorContext;
using detail::CoordinatorSettings;
using detail::EventContext;
using detail::RemoteHold;

class Process;

/// Who carries out what a process's coordinators decide.
class ProcessHost {
 public:
  /// True where the backend answers here and now: the request then needs no submitting.
  virtual bool answers_at_once(Process&, Request&, Outcome&) { return false; }
  virtual void submitted(Process& process, Request& request) = 0;
  /// The call was answered, or has to look at its `wake_at` again.
  virtual void woken(Process& process, Call& call) = 0;
  virtual void told(Process&, const Event&) {}
  virtual void before_turn(Process&, Coordinator&) {}
  /// Before an idle coordinator is dropped.
  virtual void after_turn(Process&, Coordinator&) {}

 protected:
  ~ProcessHost() = default;
};

/// Has a coordinator for each key in use and drops it when it is idle. Every event goes through
/// `turn`, which carries out the actions before the next event comes.
class Process {
 public:
  Process(std::uint32_t its_number, Clock& clock, const CoordinatorSettings& settings,
          std::uint64_t seed, ProcessHost& host, std::uint64_t first_id = 1)
      : number(its_number),
        clock_(clock),
        settings_(settings),
        context_(settings_, first_id, seed),
        host_(host) {}

  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Frees what a run left behind that ended at a violation.
  ~Process() {
    for (const auto& each : coordinators_) each->drop();
  }

  const std::uint32_t number;

  [[nodiscard]] Clock& clock() noexcept { return clock_; }
  [[nodiscard]] Clock::time_point now() const noexcept { return clock_.now(); }
  [[nodiscard]] const CoordinatorSettings& settings() const noexcept { return settings_; }

  [[nodiscard]] Coordinator* find(std::string_view key) noexcept {
    for (auto& each : coordinators_) {
      if (each->key == key) return each.get();
    }
    return nullptr;
  }

  [[nodiscard]] Coordinator& at(std::string_view key) {
    if (Coordinator* const found = find(key)) return *found;
    if (spares_.empty()) spares_.push_back(std::make_unique<Coordinator>());
    coordinators_.push_back(std::move(spares_.back()));
    spares_.pop_back();
    Coordinator& made = *coordinators_.back();
    made.start(context_);
    made.key = key;
    return made;
  }

  /// One event: `event(Coordinator&, EventContext&)`. `caller` is the call whose own thread brings
  /// it.
  template <class Do>
  void handle(Coordinator& coordinator, Do&& event, Call* caller = nullptr) {
    host_.before_turn(*this, coordinator);
    Actions actions;
    EventContext one(clock_, actions, clock_.now());
    one.caller = caller;
    event(coordinator, one);
    answer_at_once(coordinator, one);
    for (Request* const request : actions.submits) open_.push_back(request);
    for (Request* const request : actions.submits) host_.submitted(*this, *request);
    if (actions.effects != nullptr) {
      for (const Event& each : actions.effects->events) host_.told(*this, each);
      stops += actions.effects->stops.size();
    }
    for (Call* const call : actions.wakes) {
      call->waking = false;
      if (call->answer != Answer::pending) call->done.store(true);
      host_.woken(*this, *call);
    }
    if (caller != nullptr) {
      if (caller->answer == Answer::pending) caller->wake_at = coordinator.alarm_of(*caller);
      host_.woken(*this, *caller);
    }
    host_.after_turn(*this, coordinator);
    drop_if_idle(coordinator);
  }

  void tick(Coordinator& coordinator, Call* caller = nullptr) {
    handle(coordinator, [](Coordinator& its, EventContext& one) { its.tick(one); }, caller);
  }

  void completed(Request& request, Outcome outcome) {
    std::erase(open_, &request);
    handle(*static_cast<Coordinator*>(request.context),
           [&](Coordinator& its, EventContext& one) { its.completed(request, outcome, one); });
  }

  void notified(const Notification& notification) {
    const auto tell = [&](Coordinator& its, EventContext& one) { its.notified(notification, one); };
    if (!notification.key.empty()) {
      if (Coordinator* const one = find(notification.key)) handle(*one, tell);
      return;
    }
    for (Coordinator* const each : all()) handle(*each, tell);
  }

  void close() {
    context_.closed = true;
    const auto end = [](Coordinator& its, EventContext& one) {
      its.end_waits(one);
      its.end_holds(one);
    };
    for (Coordinator* const each : all()) handle(*each, end);
  }

  [[nodiscard]] bool closed() const noexcept { return context_.closed; }
  [[nodiscard]] bool idle() const noexcept { return coordinators_.empty() && open_.empty(); }

  /// Gives back what a caller that is no more was granted. Only before `bury`.
  void abandon(std::string_view key, RemoteHold& hold, LockType type, bool by_lock, bool watched) {
    context_.closed = true;
    Coordinator& coordinator = at(key);
    Actions actions;
    EventContext one(clock_, actions, clock_.now());
    if (by_lock) {
      Call& call = *last_calls_.emplace_back(std::make_unique<Call>());
      call.owner = hold.owner;
      call.type = type;
      coordinator.unlock(call, one);
    } else {
      coordinator.release(hold, type, watched, Clock::time_point::min(), nullptr, one);
    }
    open_.insert(open_.end(), actions.submits.begin(), actions.submits.end());
  }

  /// The attempt at several keys of which this claim was one part is never answered. Only before
  /// `bury`.
  void abandon(RemoteHold& claim) {
    context_.closed = true;
    Actions actions;
    EventContext one(clock_, actions, clock_.now());
    Outcome gone;
    gone.kind = Outcome::Kind::gone;
    claim.home->completed(claim.ask, gone, one);
    open_.insert(open_.end(), actions.submits.begin(), actions.submits.end());
    for (Call* const call : actions.wakes) call->waking = false;
  }

  /// The end, without a backend: every request is answered `gone`, long after every lease, until
  /// nothing is left. False where something is left nevertheless. Every local hold was released.
  [[nodiscard]] bool tear_down() {
    context_.closed = true;
    Clock::time_point far = clock_.now() + std::chrono::hours(1);
    for (int round = 0; round < 100 && !coordinators_.empty(); ++round) {
      far += std::chrono::hours(1);
      for (Coordinator* const each : all()) {
        Actions actions;
        EventContext one(clock_, actions, far);
        if (round == 0) each->end_waits(one);
        for (Request* const request : std::exchange(open_, {})) {
          Outcome gone;
          gone.kind = Outcome::Kind::gone;
          auto* const its = static_cast<Coordinator*>(request->context);
          its->completed(*request, gone, one);
        }
        each->tick(one);
        open_.insert(open_.end(), actions.submits.begin(), actions.submits.end());
        for (Call* const call : actions.wakes) call->waking = false;
      }
      for (Coordinator* const each : all()) drop_if_idle(*each);
    }
    return coordinators_.empty();
  }

  /// Lost holds whose stop token somebody had asked for.
  std::size_t stops = 0;

 private:
  [[nodiscard]] std::vector<Coordinator*> all() const {
    std::vector<Coordinator*> list;
    list.reserve(coordinators_.size());
    for (const auto& each : coordinators_) list.push_back(each.get());
    return list;
  }

  // What is answered at once goes straight back, and its next requests join the ones under way.
  void answer_at_once(Coordinator& coordinator, EventContext& one) {
    auto& requests = one.out.submits;
    std::size_t unanswered = 0;
    for (std::size_t index = 0; index < requests.size(); ++index) {
      Outcome outcome;
      if (host_.answers_at_once(*this, *requests[index], outcome)) {
        coordinator.completed(*requests[index], outcome, one);
      } else {
        requests[unanswered++] = requests[index];
      }
    }
    requests.shorten(unanswered);
  }

  void drop_if_idle(Coordinator& coordinator) {
    if (!coordinator.idle()) return;
    const auto place = std::find_if(coordinators_.begin(), coordinators_.end(),
                                    [&](const auto& each) { return each.get() == &coordinator; });
    coordinator.reset();
    spares_.push_back(std::move(*place));
    coordinators_.erase(place);
  }

  Clock& clock_;
  CoordinatorSettings settings_;
  CoordinatorContext context_;
  ProcessHost& host_;
  std::vector<std::unique_ptr<Coordinator>> coordinators_;
  std::vector<std::unique_ptr<Coordinator>> spares_;
  std::vector<Request*> open_;
  std::vector<std::unique_ptr<Call>> last_calls_;
};

}  // namespace latchkey::sim
