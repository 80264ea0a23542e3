// A schedule written by hand: one process, one key, and a backend that answers what it is told to.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "testing/simulator/process.hpp"
#include "testing/simulator/sim_clock.hpp"

namespace latchkey::sim {

using std::chrono::milliseconds;
using Kind = Outcome::Kind;

/// Time stands still but in `pass`. What the coordinator submits is read with `sent()`, in words:
/// verb, number of the hold, lease in milliseconds where the verb has one.
///
///     Script script;
///     Call& call = script.acquire(LockType::REENTRANT, 3s, 30s);
///     EXPECT_EQ(script.sent(), "acquire 1 30000");
///     script.answer(Kind::granted);
class Script final : private ProcessHost {
 public:
  explicit Script(CoordinatorSettings settings = {})
      : clock_(truth_, std::chrono::seconds(1'000)),
        process_(new Process(0, clock_, settings, 1, *this)) {}

  /// Gives back what the test left behind.
  ~Script() {
    for (std::size_t index = 0, calls = calls_.size(); index < calls; ++index) {
      if (calls_[index]->granted && !calls_[index]->released) undo(*calls_[index]);
    }
    if (!process_->tear_down()) ADD_FAILURE() << "something is left although all was answered";
  }

  /// A call and what became of it.
  struct Caller : Call {
    bool granted = false;  ///< it holds: given back by unlock or release
    bool released = false;
    int answers = 0;
    int wakes = 0;  ///< woken, answered or not
  };

  Caller& acquire(LockType type, Wait wait, Lease lease, Owner owner = Owner::this_thread()) {
    return start(type, wait, lease, owner, false);
  }
  Caller& lock(LockType type, Wait wait, Owner owner = Owner::this_thread()) {
    return start(type, wait, watchdog, owner, true);
  }

  Caller& extend(Caller& held, milliseconds lease) {
    Caller& call = fresh(held.owner, held.type);
    call.until = now() + process_->settings().command_timeout;
    context([&](Coordinator& its, EventContext& one) { its.extend(*held.hold, lease, call, one); });
    return call;
  }

  Caller& unlock(Caller& held) {
    Caller& call = fresh(held.owner, held.type);
    held.released = true;
    context([&](Coordinator& its, EventContext& one) { its.unlock(call, one); });
    return call;
  }

  /// `keep`: hold_for, what remains of it.
  Caller& release(Caller& held, milliseconds keep = milliseconds(0)) {
    Caller& call = fresh(held.owner, held.type);
    held.released = true;
    const auto until = keep.count() > 0 ? now() + keep : Clock::time_point::min();
    context([&](Coordinator& its, EventContext& one) {
      its.release(*held.hold, held.type, held.lease.is_watchdog(), until, &call, one);
    });
    return call;
  }

  void cancel(Caller& call) {
    context([&](Coordinator& its, EventContext& one) { its.cancel(call, one); });
  }

  /// The thread of `owner` ends; what it held by lock() must not be unlocked any more.
  void end_owner(Owner owner) {
    for (const auto& call : calls_) {
      if (call->by_lock && call->owner == owner) call->released = true;
    }
    context([&](Coordinator& its, EventContext& one) { its.owner_ended(owner, one); });
  }

  void close() { process_->close(); }

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

  void notify(Notification::Kind kind, std::uint64_t number = 0) {
    Notification notification;
    notification.kind = kind;
    const bool link = kind == Notification::Kind::link_up || kind == Notification::Kind::link_down;
    if (!link) notification.key = key;
    if (number != 0) notification.id = {process_->settings().space, number};
    process_->notified(notification);
  }

  /// Time passes; what is due on the way is brought at its time, for the timer and for callers.
  void pass(milliseconds length) {
    const Clock::time_point end = now() + length;
    for (int ticks = 0; next_due() <= end; ++ticks) {
      ASSERT_LT(ticks, 10'000) << "a tick is due again and again";
      truth_ += std::max(next_due() - now(), Clock::duration{});
      if (Coordinator* const its = process_->find(key)) process_->tick(*its);
      for (const auto& call : calls_) call->slept = call->wake_at;
      ASSERT_GT(next_due(), now()) << "a tick that changed nothing is due again at once";
    }
    truth_ += end - now();
  }

  /// What was submitted since the last look.
  [[nodiscard]] std::string sent() { return std::exchange(sent_, {}); }
  [[nodiscard]] std::string events() { return std::exchange(events_, {}); }
  [[nodiscard]] std::size_t open() const noexcept { return open_.size(); }
  [[nodiscard]] bool idle() const noexcept { return process_->idle(); }
  /// Something is due for the timer thread, so it exists and drives.
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
  struct Sleeper : Caller {
    Clock::time_point slept = Clock::never();  // until when its thread sleeps
  };

  Sleeper& fresh(Owner owner, LockType type) {
    Sleeper& call = *calls_.emplace_back(std::make_unique<Sleeper>());
    call.owner = owner;
    call.type = type;
    call.asked = call.until = now();
    return call;
  }

  Caller& start(LockType type, Wait wait, Lease lease, Owner owner, bool by_lock) {
    Sleeper& call = fresh(owner, type);
    call.lease = lease;
    call.by_lock = by_lock;
    call.forever = wait.is_forever();
    call.set_grace(wait.length(), process_->settings().command_timeout);
    call.until = call.forever ? Clock::never() : later(call.asked, wait.length());
    context([&](Coordinator& its, EventContext& one) { its.acquire(call, one); });
    call.slept = call.wake_at;
    return call;
  }

  template <class Do>
  void context(Do&& event) {
    process_->handle(process_->at(key), std::forward<Do>(event));
  }

  void answer_at(std::deque<Request*>::iterator place, Outcome outcome) {
    ASSERT_NE(place, open_.end()) << "no such request is open";
    Request& request = **place;
    open_.erase(place);
    process_->completed(request, std::move(outcome));
  }

  void undo(Sleeper& call) {
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
      if (call->answer == Answer::pending) at = std::min(at, call->slept);
    }
    return at;
  }

  void submitted(Process&, Request& request) override {
    open_.push_back(&request);
    if (!sent_.empty()) sent_ += ", ";
    sent_ += to_string(request.verb);
    if (request.id.number != 0) sent_ += " " + std::to_string(request.id.number);
    const bool leased = request.verb == Verb::acquire || request.verb == Verb::renew ||
                        request.verb == Verb::downgrade;
    if (leased) sent_ += " " + std::to_string(request.lease.count());
  }

  void woken(Process&, Call& call) override {
    auto& sleeper = static_cast<Sleeper&>(call);
    ++sleeper.wakes;
    sleeper.slept = call.wake_at;
    if (call.answer == Answer::pending) return;
    ++sleeper.answers;
    sleeper.granted = call.acquires && call.answer == Answer::granted;
  }

  void published(Process&, const Event& event) override {
    if (!events_.empty()) events_ += ", ";
    events_ += to_string(event.kind);
  }

  Clock::duration truth_{};
  SimClock clock_;
  std::unique_ptr<Process> process_;
  std::vector<std::unique_ptr<Sleeper>> calls_;
  std::deque<Request*> open_;
  std::string sent_;
  std::string events_;
};

}  // namespace latchkey::sim
