// The conversation with one Redis server: requests that wait for a connection.
#include <algorithm>
#include <chrono>

#include "redis/session/requests.hpp"
#include "redis/session/session.hpp"

namespace latchkey::detail::redis {
namespace {

/// How long a question waits for a connection that is known to be down.
constexpr std::chrono::milliseconds patience{250};

}  // namespace

// Where there is no connection yet, and none has failed, nobody knows it to be down.
Session::TimePoint Session::end_of(const InFlightCommand& pending) const noexcept {
  if (stage_ == Stage::up || !last_failure_ || !is_question(pending.verb)) return pending.deadline;
  const TimePoint asked_at = pending.deadline - settings_.timeout;
  return std::min(pending.deadline, later(std::max(asked_at, down_since_), patience));
}

// They are not in the order of their ends.
void Session::end_waiting(TimePoint now) noexcept {
  if (now < waiting_due_) return;
  waiting_due_ = Clock::never();
  for (std::size_t index = first_live_; index < pending_.size(); ++index) {
    InFlightCommand& pending = pending_[index];
    if (pending.request == nullptr) continue;
    if (now >= end_of(pending)) {
      end_unsent(pending);
    } else {
      waiting_due_ = std::min(waiting_due_, end_of(pending));
    }
  }
}

void Session::end_questions() noexcept {
  for (std::size_t index = first_live_; index < pending_.size(); ++index) {
    InFlightCommand& pending = pending_[index];
    if (pending.request != nullptr && is_question(pending.verb)) end_unsent(pending);
  }
}

void Session::end_unsent(InFlightCommand& pending) noexcept {
  const bool refused = last_failure_ && last_failure_->refused && is_question(pending.verb);
  end(pending, refused ? Outcome::Kind::refused : Outcome::Kind::unknown,
      last_failure_ ? last_failure_->text : silence(settings_.timeout).text, true);
}

}  // namespace latchkey::detail::redis
