// The conversation with one Redis server: how connections come and go, and what time does to them.
#include <algorithm>
#include <new>
#include <utility>

#include "redis/session/session.hpp"

namespace latchkey::detail::redis {
namespace {

using namespace std::chrono_literals;

// After a server's return the first acquire is served within 250 ms, so no pause is longer than
// that where somebody waits.
constexpr auto shortest_pause = 10ms, longest_pause = 160ms, longest_idle_pause = 1000ms;
// A connection that lived shorter than this counts as one more attempt that failed.
constexpr auto long_enough = 1s;

}  // namespace

void Session::connecting(TimePoint now) noexcept {
  stage_ = Stage::connecting;
  settle_until_ = later(now, settings_.timeout);
}

void Session::connected() noexcept {
  stage_ = Stage::greeting;
  greeting_.clear();
  try {
    reader_.reset();
    handshake_.begin(greeting_);
  } catch (const std::bad_alloc&) {
    trouble_ = no_memory();
  }
}

void Session::received(std::span<const char> bytes, TimePoint now) noexcept {
  heard_at_ = now;
  now_ = std::max(now_, now);
  if (!trouble_ && !reader_.feed(bytes)) {
    trouble_ = not_redis(reader_.error(), handshake_.answered_anything());
  }
}

void Session::failed(Failure failure, TimePoint now) noexcept {
  const bool was_up = stage_ == Stage::up;
  stage_ = Stage::down;
  trouble_.reset();
  greeting_.clear();
  queued_.clear();
  leaving_.clear();
  if (was_up) {
    if (serves_) tell_all(Notification::Kind::link_down, failure.text);
    handshake_.lost();
    drop_what_was_sent(failure.text);
    if (now - up_since_ >= long_enough) attempts_ = 0;
  }
  const bool refused_anew =
      failure.refused && (!last_failure_ || last_failure_->text != failure.text);
  if (refused_anew) tell_all(Notification::Kind::warning);
  if (!last_failure_) down_since_ = now;
  last_failure_ = std::move(failure);
  failed_at_ = now;
  const bool wanted = listens() || first_live_ < pending_.size() || now < wanted_until_;
  retry_at_ = now + pause(attempts_++, wanted);
  if (last_failure_->is_certain()) end_questions();
  waiting_due_ = TimePoint{};
  end_waiting(now);  // which finds out what is due next
}

// What was sent whole may have run, or may yet run, and nobody will say. What was not, did not: it
// is written once more, on the next connection.
void Session::drop_what_was_sent(std::string_view why) noexcept {
  while (written_ > 0 && (pending_[0].end <= sent_end_ || pending_[0].request == nullptr)) {
    if (pending_[0].request != nullptr) end(pending_[0], Outcome::Kind::unknown, why);
    pop();
  }
  written_ = 0;
  note_owed_ = false;
  unanswered_channels_.clear();
  give_up_unconfirmed(why, Clock::never());
  replicas_wanted_ = replicas_asked_ = replicas_missing_ = false;
  queued_end_ = sent_end_;
  for (std::size_t index = 0; index < pending_.size(); ++index) {
    pending_[index].cursor = 0;  // another server has other pages
  }
}

// Exponential, each +- 50 %, so that clients who lost the same server do not come back in step.
Clock::duration Session::pause(std::uint32_t attempts, bool wanted) noexcept {
  const auto longest = wanted ? longest_pause : longest_idle_pause;
  const Clock::duration full = std::min<Clock::duration>(
      shortest_pause * (std::int64_t{1} << std::min(attempts, 10U)), longest);
  const auto percent = std::uniform_int_distribution<std::int64_t>(50, 150)(chance_);
  return full * percent / 100;
}

void Session::tick(TimePoint now) noexcept {
  now_ = std::max(now_, now);
  end_overdue(now);
  if (trouble_) return;
  const bool settling = stage_ == Stage::connecting || stage_ == Stage::greeting;
  if (settling && now >= settle_until_) trouble_ = silence(settings_.timeout);
  if (stage_ == Stage::up && now >= dead_at()) trouble_ = dead(2 * settings_.timeout);
  try {
    ask_what_is_due(now);
  } catch (const std::bad_alloc&) {
    trouble_ = no_memory();
  }
}

void Session::end_overdue(TimePoint now) noexcept {
  if (!unconfirmed_.empty()) give_up_unconfirmed("no replica has confirmed it in time", now);
  if (stage_ != Stage::up) return end_waiting(now);
  while (first_live_ < pending_.size()) {
    InFlightCommand& pending = pending_[first_live_];
    if (pending.request != nullptr) {
      if (now < pending.deadline) return;
      end(pending, Outcome::Kind::unknown, silence(settings_.timeout).text);
    }
    ++first_live_;
  }
}

void Session::pop() noexcept {
  pending_.pop();
  if (written_ > 0) --written_;
  if (first_live_ > 0) --first_live_;
}

void Session::drop_answerless() noexcept {
  while (written_ > 0 && pending_[0].ask == InFlightCommand::Ask::nothing) pop();
}

// A server that stands still for a while keeps its connection, and with it the order of what was
// sent. One that says nothing at all for twice the time that an answer may take is given up: the
// other end may be gone without a trace.
Session::TimePoint Session::dead_at() const noexcept {
  if (written_ == 0) return Clock::never();
  const TimePoint asked_at = pending_[0].deadline - settings_.timeout;
  return later(std::max(heard_at_, asked_at), 2 * settings_.timeout);
}

Session::TimePoint Session::due() const noexcept {
  if (trouble_ || has_news()) return TimePoint{};
  TimePoint at = Clock::never();
  const bool any = first_live_ < pending_.size();
  if (any) at = stage_ == Stage::up ? pending_[first_live_].deadline : waiting_due_;
  for (const UnconfirmedGrant& each : unconfirmed_) at = std::min(at, each.deadline);
  switch (stage_) {
    case Stage::down: return std::min(at, retry_at_);
    case Stage::connecting:
    case Stage::greeting: return std::min(at, settle_until_);
    case Stage::up: return std::min({at, dead_at(), ping_at(), unanswered_channels_due()});
  }
  return at;
}

}  // namespace latchkey::detail::redis
