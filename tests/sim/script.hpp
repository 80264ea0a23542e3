// Scripted runs of one coordinator: the test writes the schedule and every reply.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/script_settings.hpp"
#include "testing/simulator/world/process.hpp"
#include "testing/simulator/world/sim_clock.hpp"

namespace latchkey::inline v1::sim {

using std::chrono::milliseconds;
using Kind = Outcome::Kind;
using detail::MemberReport;

/// One process with one key. Time moves only in `pass`. `sent()` shows what the coordinator
/// submitted: the verb, the number of the hold, for verbs with a lease its milliseconds, and
/// whether the key is to be watched.
///
///     Script script;
///     Call& call = script.acquire(LockType::REENTRANT, 3s, 30s);
///     EXPECT_EQ(script.sent(), "acquire 1 30000");
///     script.answer(Kind::granted);
class Script : private ProcessHost {
 public:
  explicit Script(CoordinatorSettings settings = without_cohorts())
      : clock_(truth_, std::chrono::seconds(1'000)),
        process_(new Process(0, clock_, settings, 1, *this)) {}

  /// Releases what the test still holds.
  ~Script() {
    for (std::size_t index = 0, calls = calls_.size(); index < calls; ++index) {
      if (calls_[index]->granted && !calls_[index]->released) undo(*calls_[index]);
    }
    if (!process_->tear_down())
      ADD_FAILURE() << "a coordinator is left after every request was answered";
  }

  /// A call and its results.
  struct Caller : Call {
    bool granted = false;  ///< it holds until unlock or release
    bool released = false;
    int answers = 0;
    int wakes = 0;  ///< including those without an answer
  };

  Caller& acquire(LockType type, Wait wait, Lease lease, Owner owner = Owner::this_thread()) {
    return start(type, wait, lease, owner, false);
  }
  Caller& lock(LockType type, Wait wait, Owner owner = Owner::this_thread()) {
    return start(type, wait, watchdog, owner, true);
  }

  /// One of several keys.
  Caller& acquire_member(LockType type, Lease lease, MemberReport& report) {
    member_ = &report;
    Caller& call = acquire(type, std::chrono::seconds(1), lease);
    member_ = nullptr;
    return call;
  }
  /// One of several keys that one request acquires.
  Caller& acquire_bundled(LockType type, Lease lease) {
    bundled_ = true;
    Caller& call = acquire(type, std::chrono::seconds(1), lease);
    bundled_ = false;
    return call;
  }
  /// All of the several keys are granted.
  HoldLimits::Number limit(Caller& held, milliseconds most) {
    handle([&](Coordinator& its, EventContext& one) {
      held.limit = its.limit(*held.hold, later(one.now(), most));
    });
    return held.limit;
  }

  /// The holder asks whether it is revoked.
  bool revoked(Caller& held) {
    handle(
        [&](Coordinator& its, EventContext& one) { its.listen_for_revocation(*held.hold, one); });
    return held.hold->revoked.load();
  }

  /// `up_to_limit`: as that of several keys.
  Caller& extend(Caller& held, milliseconds lease, bool up_to_limit = false) {
    Caller& call = fresh(held.owner, held.type);
    call.up_to_limit = up_to_limit;
    call.until = now() + process_->settings().command_timeout;
    handle([&](Coordinator& its, EventContext& one) { its.extend(*held.hold, lease, call, one); });
    return call;
  }

  Caller& unlock(Caller& held) {
    Waiter& call = fresh(held.owner, held.type);
    held.released = true;
    handle([&](Coordinator& its, EventContext& one) { its.unlock(call, one); }, call);
    return call;
  }

  /// `keep`: how much of hold_for remains.
  Caller& release(Caller& held, milliseconds keep = milliseconds(0)) {
    Waiter& call = fresh(held.owner, held.type);
    held.released = true;
    const auto until = keep.count() > 0 ? now() + keep : Clock::time_point::min();
    handle(
        [&](Coordinator& its, EventContext& one) {
          its.release(*held.hold, held.type, held.lease.is_watchdog(), until, &call, one,
                      held.limit_number());
        },
        call);
    return call;
  }

  void cancel(Caller& call) {
    handle([&](Coordinator& its, EventContext& one) { its.cancel(call, one); });
  }

  /// The thread of `owner` ends. The test must not unlock what that thread held by lock().
  void end_owner(Owner owner) {
    for (const auto& call : calls_) {
      if (call->by_lock && call->owner == owner) call->released = true;
    }
    handle([&](Coordinator& its, EventContext& one) { its.owner_ended(owner, one); });
  }

  void close() { process_->close(); }
  /// Whether close still waits.
  [[nodiscard]] bool unfinished() {
    const Coordinator* const its = process_->find(key);
    return its != nullptr && its->unfinished();
  }

  /// Answers the oldest open request, or the oldest of `verb`.
  void answer(Outcome outcome) { answer_at(open_.begin(), std::move(outcome)); }
  void answer(Kind kind) { answer(of(kind)); }
  void answer(Verb verb, Outcome outcome) {
    auto place = open_.begin();
    while (place != open_.end() && (*place)->verb != verb) ++place;
    answer_at(place, std::move(outcome));
  }
  void answer(Verb verb, Kind kind) { answer(verb, of(kind)); }

  static Outcome of(Kind kind, std::uint64_t token = 0) {
    Outcome outcome;
    outcome.kind = kind;
    outcome.token = token;
    return outcome;
  }
  static Outcome busy(milliseconds retry_after) {
    Outcome outcome = of(Kind::busy);
    outcome.retry_after = retry_after;
    return outcome;
  }

  /// From now on the backend is in the same process: it answers each request at once with the next
  /// of these outcomes, then with granted.
  void answer_at_once(std::deque<Kind> kinds) {
    at_once_ = true;
    next_kinds_ = std::move(kinds);
  }
  /// The requests answered at once since the last call.
  [[nodiscard]] std::string answered() { return std::exchange(answered_, {}); }

  void notify(Notification::Kind kind, std::uint64_t number = 0) {
    Notification notification;
    notification.kind = kind;
    const bool link = kind == Notification::Kind::link_up || kind == Notification::Kind::link_down;
    if (!link) notification.key = key;
    if (number != 0) notification.id = {process_->settings().space, number};
    process_->notified(notification);
  }

  /// Perhaps all keys have changed, as after FLUSHALL.
  void notify_of_changed_keys() { process_->notified({.kind = Notification::Kind::changed}); }

  /// A release leaves the key free, and notifies others and the first in line, this process.
  void notify_first_in_line() {
    process_->notified(
        {.kind = Notification::Kind::released, .key = key, .id = {process_->settings().space, 0}});
  }

  /// A release grants the key to the claim with this number.
  void grant(std::uint64_t number, std::uint64_t place, std::uint64_t token = 0) {
    Notification notification;
    notification.kind = Notification::Kind::granted;
    notification.key = key;
    notification.id = {process_->settings().space, number};
    notification.place = place;
    notification.token = token;
    process_->notified(notification);
  }

  /// Lets time pass. Each tick that becomes due is delivered at its time.
  void pass(milliseconds length) {
    const Clock::time_point end = now() + length;
    for (int ticks = 0; next_due() <= end; ++ticks) {
      ASSERT_LT(ticks, 10'000) << "ticks do not stop";
      truth_ += std::max(next_due() - now(), Clock::duration{});
      if (Coordinator* const its = process_->find(key)) process_->tick(*its);
      for (const auto& call : calls_) call->wakes_at = call->wake_at;
      ASSERT_GT(next_due(), now()) << "a tick is due again at once";
    }
    truth_ += end - now();
  }

  /// The requests submitted since the last call.
  [[nodiscard]] std::string sent() { return std::exchange(sent_, {}); }
  [[nodiscard]] std::string events() { return std::exchange(events_, {}); }
  /// Whether the request submitted last asks for a place in the process queue.
  [[nodiscard]] bool last_request_queues() const { return open_.back()->queues; }
  /// How long ago it began, as the backend is told.
  [[nodiscard]] Clock::duration last_request_age() const { return now() - open_.back()->sent; }
  [[nodiscard]] std::size_t open() const noexcept { return open_.size(); }
  [[nodiscard]] bool idle() const noexcept { return process_->idle(); }
  /// Whether the coordinator has a due time, until which the timer thread drives the backend.
  [[nodiscard]] bool timer_is_needed() {
    Coordinator* const its = process_->find(key);
    return its != nullptr && its->due() != Clock::never();
  }
  [[nodiscard]] Clock::time_point now() const noexcept { return clock_.now(); }
  [[nodiscard]] bool lost(const Caller& held) const { return held.hold->is_lost(now()); }
  [[nodiscard]] milliseconds left(const Caller& held) const {
    return std::chrono::duration_cast<milliseconds>(held.hold->deadline_point() - now());
  }

  static constexpr std::string_view key = "k";

 private:
  struct Waiter : Caller {
    Clock::time_point wakes_at = Clock::never();  // when its thread delivers a tick
  };

  Waiter& fresh(Owner owner, LockType type) {
    Waiter& call = *calls_.emplace_back(std::make_unique<Waiter>());
    call.owner = owner;
    call.type = type;
    call.asked = call.until = now();
    return call;
  }

  Caller& start(LockType type, Wait wait, Lease lease, Owner owner, bool by_lock) {
    Waiter& call = fresh(owner, type);
    call.lease = lease;
    call.by_lock = by_lock;
    call.member = member_;
    call.bundled = bundled_;
    call.forever = wait.is_forever();
    call.grace = Call::grace_of(wait.length(), process_->settings().command_timeout);
    call.until = call.forever ? Clock::never() : later(call.asked, wait.length());
    handle([&](Coordinator& its, EventContext& one) { its.acquire(call, one); }, call);
    call.wakes_at = call.wake_at;
    return call;
  }

  template <class Do>
  void handle(Do&& event) {
    process_->handle(process_->at(key), std::forward<Do>(event));
  }
  /// The event of a call, brought by its own thread if the backend answers at once.
  template <class Do>
  void handle(Do&& event, Waiter& call) {
    process_->handle(process_->at(key), std::forward<Do>(event), at_once_ ? &call : nullptr);
  }

  void answer_at(std::deque<Request*>::iterator place, Outcome outcome) {
    ASSERT_NE(place, open_.end()) << "no request with this verb is open";
    Request& request = **place;
    open_.erase(place);
    process_->completed(request, std::move(outcome));
  }

  void undo(Waiter& call) {
    if (call.by_lock) {
      unlock(call);
    } else {
      release(call);
    }
  }

  Clock::time_point next_due() {
    Coordinator* const its = process_->find(key);
    Clock::time_point at = its != nullptr ? its->due() : Clock::never();
    for (const auto& call : calls_) {
      if (call->answer == Answer::pending) at = std::min(at, call->wakes_at);
    }
    return at;
  }

  void submitted(Process&, Request& request) override {
    open_.push_back(&request);
    describe(request, sent_);
  }

  bool answers_at_once(Process&, Request& request, Outcome& outcome) override {
    if (!at_once_) return false;
    describe(request, answered_);
    outcome.kind = next_kinds_.empty() ? Kind::granted : next_kinds_.front();
    if (!next_kinds_.empty()) next_kinds_.pop_front();
    return true;
  }

  static void describe(const Request& request, std::string& list) {
    if (!list.empty()) list += ", ";
    list += to_string(request.verb);
    if (request.id.number != 0) list += " " + std::to_string(request.id.number);
    const bool leased = request.verb == Verb::acquire || request.verb == Verb::renew ||
                        request.verb == Verb::downgrade || request.recall;
    if (leased) list += " " + std::to_string(request.lease.count());
    if (request.watch) list += " watching";
  }

  void woken(Process&, Call& call) override {
    auto& waiter = static_cast<Waiter&>(call);
    ++waiter.wakes;
    waiter.wakes_at = call.wake_at;
    if (call.answer == Answer::pending) return;
    ++waiter.answers;
    waiter.granted = call.kind == Call::Kind::acquire && call.answer == Answer::granted;
  }

  void published(Process&, const Event& event) override {
    if (!events_.empty()) events_ += ", ";
    events_ += to_string(event.kind);
    if (event.held_too_long) events_ += " by its limit";
  }

  Clock::duration truth_{};
  SimClock clock_;
  std::unique_ptr<Process> process_;
  std::vector<std::unique_ptr<Waiter>> calls_;
  std::deque<Request*> open_;
  MemberReport* member_ = nullptr;
  bool bundled_ = false;
  bool at_once_ = false;
  std::deque<Kind> next_kinds_;
  std::string sent_;
  std::string answered_;
  std::string events_;
};

/// A call that holds under id 1.
inline Script::Caller& hold(Script& script, Lease lease, LockType type = LockType::REENTRANT) {
  Script::Caller& held = script.acquire(type, std::chrono::seconds(1), lease);
  script.answer(Kind::granted);
  (void)script.sent();
  (void)script.events();
  return held;
}

}  // namespace latchkey::inline v1::sim
// tidy: long-file because the tests write all their schedules with this one class
