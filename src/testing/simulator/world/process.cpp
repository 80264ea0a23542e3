// Drives the coordinators of one simulated process.
// SPDX-License-Identifier: BSL-1.0
#include "testing/simulator/world/process.hpp"

#include <algorithm>
#include <chrono>

namespace latchkey::inline v1::sim {
namespace {

Outcome gone() {
  Outcome outcome;
  outcome.kind = Outcome::Kind::gone;
  return outcome;
}

}  // namespace

Process::Process(std::uint32_t its_number, Clock& clock, const CoordinatorSettings& settings,
                 std::uint64_t seed, ProcessHost& host, std::uint64_t first_id)
    : number(its_number),
      clock_(clock),
      settings_(settings),
      context_(settings_, first_id, seed),
      host_(host) {}

Process::~Process() {
  for (const auto& each : coordinators_) each->drop();
}

Coordinator* Process::find(std::string_view key) noexcept {
  for (auto& each : coordinators_) {
    if (each->key == key) return each.get();
  }
  return nullptr;
}

Coordinator& Process::at(std::string_view key) {
  if (Coordinator* const found = find(key)) return *found;
  if (spares_.empty()) spares_.push_back(std::make_unique<Coordinator>());
  coordinators_.push_back(std::move(spares_.back()));
  spares_.pop_back();
  Coordinator& made = *coordinators_.back();
  made.start(context_);
  made.key = key;
  made.hash = detail::hash_key(key);
  return made;
}

void Process::carry_out(Coordinator& coordinator, EventContext& context, Call* caller) {
  Actions& actions = context.out;
  complete_at_once(coordinator, context);
  for (Request* const request : actions.submits) open_.push_back(request);
  for (Request* const request : actions.submits) host_.submitted(*this, *request);
  if (actions.effects != nullptr) {
    for (const Event& each : actions.effects->events) host_.published(*this, each);
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
  host_.after_event(*this, coordinator);
  drop_if_idle(coordinator);
}

// An outcome may bring further requests, which are answered in the same loop.
void Process::complete_at_once(Coordinator& coordinator, EventContext& context) {
  auto& requests = context.out.submits;
  std::size_t unanswered = 0;
  for (std::size_t index = 0; index < requests.size(); ++index) {
    Outcome outcome;
    if (host_.answers_at_once(*this, *requests[index], outcome)) {
      coordinator.completed(*requests[index], outcome, context);
    } else {
      requests[unanswered++] = requests[index];
    }
  }
  requests.shorten(unanswered);
}

void Process::tick(Coordinator& coordinator, Call* caller) {
  handle(coordinator, [](Coordinator& its, EventContext& context) { its.tick(context); }, caller);
}

void Process::completed(Request& request, Outcome outcome) {
  std::erase(open_, &request);
  handle(*static_cast<Coordinator*>(request.context), [&](Coordinator& its, EventContext& context) {
    its.completed(request, outcome, context);
  });
}

void Process::notified(const Notification& notification) {
  const auto notify = [&](Coordinator& its, EventContext& context) {
    its.notified(notification, context);
  };
  if (!notification.key.empty()) {
    if (Coordinator* const its = find(notification.key)) handle(*its, notify);
    return;
  }
  context_.note_link(notification);
  for (Coordinator* const each : all()) handle(*each, notify);
}

void Process::close() {
  context_.closed = true;
  const auto end = [](Coordinator& its, EventContext& context) {
    its.end_waits(context);
    its.end_holds(context);
  };
  for (Coordinator* const each : all()) handle(*each, end);
}

template <class Do>
void Process::end_hold(std::string_view key, Do&& event) {
  context_.closed = true;
  Actions actions;
  EventContext context(clock_, actions, clock_.now());
  event(at(key), context);
  open_.insert(open_.end(), actions.submits.begin(), actions.submits.end());
}

void Process::abandon(std::string_view key, Owner owner, LockType type) {
  Call& call = *last_calls_.emplace_back(std::make_unique<Call>());
  call.owner = owner;
  call.type = type;
  end_hold(key, [&](Coordinator& its, EventContext& context) { its.unlock(call, context); });
}

void Process::abandon(std::string_view key, RemoteHold& hold, LockType type, bool by_watchdog,
                      HoldLimits::Number limit) {
  end_hold(key, [&](Coordinator& its, EventContext& context) {
    its.release(hold, type, by_watchdog, Clock::time_point::min(), nullptr, context, limit);
  });
}

void Process::abandon(RemoteHold& claim) {
  context_.closed = true;
  Actions actions;
  EventContext context(clock_, actions, clock_.now());
  Outcome outcome = gone();
  claim.home->completed(claim.acquire.request, outcome, context);
  open_.insert(open_.end(), actions.submits.begin(), actions.submits.end());
  for (Call* const call : actions.wakes) call->waking = false;
}

bool Process::tear_down() {
  context_.closed = true;
  Clock::time_point later = clock_.now() + std::chrono::hours(1);
  for (int round = 0; round < 100 && !coordinators_.empty(); ++round) {
    later += std::chrono::hours(1);
    for (Coordinator* const each : all()) tear_down_once(*each, later, round == 0);
    for (Coordinator* const each : all()) drop_if_idle(*each);
  }
  return coordinators_.empty();
}

void Process::tear_down_once(Coordinator& coordinator, Clock::time_point now, bool first) {
  Actions actions;
  EventContext context(clock_, actions, now);
  if (first) coordinator.end_waits(context);
  for (Request* const request : std::exchange(open_, {})) {
    Outcome outcome = gone();
    static_cast<Coordinator*>(request->context)->completed(*request, outcome, context);
  }
  coordinator.tick(context);
  open_.insert(open_.end(), actions.submits.begin(), actions.submits.end());
  for (Call* const call : actions.wakes) call->waking = false;
}

std::vector<Coordinator*> Process::all() const {
  std::vector<Coordinator*> list;
  list.reserve(coordinators_.size());
  for (const auto& each : coordinators_) list.push_back(each.get());
  return list;
}

void Process::drop_if_idle(Coordinator& coordinator) {
  if (!coordinator.idle()) return;
  const auto place = std::find_if(coordinators_.begin(), coordinators_.end(),
                                  [&](const auto& each) { return each.get() == &coordinator; });
  coordinator.reset();
  spares_.push_back(std::move(*place));
  coordinators_.erase(place);
}

}  // namespace latchkey::inline v1::sim
