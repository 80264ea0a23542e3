// One event of a coordinator: its time, and the actions that it brings.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/listener.hpp>

#include "core/collections/small_vector.hpp"
#include "locks/coordinator/call.hpp"

namespace latchkey::inline v1::detail {

/// Calls whose completions are still to be told, in the order of their answers. Needs no memory.
class CompletedCalls {
 public:
  CompletedCalls() noexcept = default;
  CompletedCalls(CompletedCalls&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)), last_(std::exchange(other.last_, nullptr)) {}
  CompletedCalls& operator=(CompletedCalls&&) = delete;

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  void push_back(Call& call) noexcept {
    call.next_completed = nullptr;
    (last_ == nullptr ? first_ : last_->next_completed) = &call;
    last_ = &call;
  }

  /// Takes over all calls of `other`.
  void append(CompletedCalls&& other) noexcept {
    if (other.empty()) return;
    (last_ == nullptr ? first_ : last_->next_completed) = std::exchange(other.first_, nullptr);
    last_ = std::exchange(other.last_, nullptr);
  }

  /// Tells all completions, with no mutex held: one may destroy its call, and may start other
  /// calls.
  void notify_all() noexcept {
    last_ = nullptr;
    for (Call* call = std::exchange(first_, nullptr); call != nullptr;) {
      Call& each = *std::exchange(call, call->next_completed);
      each.completion->answered();
    }
  }

 private:
  Call* first_ = nullptr;
  Call* last_ = nullptr;
};

/// Stops and events that other threads must carry out or report; few events bring any.
struct Effects {
  std::vector<Event> events;            ///< for the listener
  std::vector<std::stop_source> stops;  ///< of holds that were lost or revoked
};

/// The actions that one event brought, in their order. The thread that brought the event carries
/// them out before it unlocks the key's mutex, so requests reach the backend in the order in which
/// the coordinator decided: a renewal can never be submitted after its release.
struct Actions {
  SmallVector<Request*, 4> submits;
  SmallVector<Call*, 4> wakes;       ///< answered, or to drive, or with an earlier `wake_at`
  CompletedCalls completed;          ///< answered calls that no thread waits for
  std::unique_ptr<Effects> effects;  ///< null: none
  std::size_t unreported = 0;        ///< events that no memory was left for

  [[nodiscard]] bool empty() const noexcept {
    return submits.empty() && wakes.empty() && completed.empty() && effects == nullptr &&
           unreported == 0;
  }
  Effects& effects_for_others() {
    if (effects == nullptr) effects = std::make_unique<Effects>();
    return *effects;
  }
};

/// Answers a request within the call if its backend is in the same process.
class ImmediateBackend {
 public:
  /// Answers `request` by `outcome`, which is newly made. False: it did not touch the request,
  /// which is submitted then.
  [[nodiscard]] virtual bool answer(Request& request, Outcome& outcome) noexcept = 0;
  /// As Backend::grant_uncontended.
  [[nodiscard]] virtual bool grant_uncontended(const Request& /*request*/) noexcept {
    return false;
  }

 protected:
  ~ImmediateBackend() = default;
};

/// Handed through the coordinator with each event. The time is read when it is first asked for, and
/// once: many events never need it, and reading a clock costs as much as a hash look-up.
class EventContext {
 public:
  EventContext(Clock& clock, Actions& actions) noexcept : out(actions), clock_(clock) {}
  EventContext(Clock& clock, Actions& actions, Clock::time_point known) noexcept
      : out(actions), clock_(clock), now_(known) {}

  [[nodiscard]] Clock::time_point now() noexcept {
    if (now_ == unread) now_ = clock_.now();
    return now_;
  }

  /// Forgets the time, which may be a tick old: the next now() reads the clock.
  void read_again() noexcept { now_ = unread; }

  Actions& out;
  /// The call whose own thread brings this event. It is not among the wakes: the thread looks at
  /// its answer, and asks for its alarm, before it lets go of the mutex.
  const Call* caller = nullptr;
  /// The backend that answers requests within the event; null: every request goes to `out`.
  ImmediateBackend* immediate = nullptr;

 private:
  static constexpr Clock::time_point unread = Clock::time_point::min();

  Clock& clock_;
  Clock::time_point now_ = unread;
};

}  // namespace latchkey::inline v1::detail
