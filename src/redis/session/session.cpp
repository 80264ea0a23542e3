// The conversation with one Redis server: requests on their way out.
#include "redis/session/session.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "redis/protocol/names.hpp"

namespace latchkey::detail::redis {
namespace {

/// Who was told that there is no connection asks again, if at all.
constexpr std::chrono::milliseconds asks_again_within{1'500};

std::optional<std::string> refusal_of(const Request& request) {
  if (request.verb == Verb::list) return std::nullopt;  // a pattern
  if (request.verb == Verb::acquire_all) {
    for (const Member& member : request.members) {
      if (member.type == LockType::FAIR) return "FAIR locks are not taken with others in one step";
      if (auto refusal = refuse_name(member.key)) return refusal;
    }
    return std::nullopt;
  }
  return refuse_name(request.key);
}

}  // namespace

void Delivery::hand_over() noexcept {
  if (request != nullptr) {
    sink->completed(*request, std::move(outcome));
  } else {
    sink->notified({.kind = kind, .key = key, .id = id, .server = server, .text = text});
  }
}

Session::Session(Settings settings)
    : settings_(std::move(settings)),
      chance_(static_cast<std::minstd_rand::result_type>(settings_.seed % 2'147'483'646 + 1)),
      handshake_(settings_.login),
      server_(settings_.login.cluster ? settings_.place.text() : std::string()),
      wire_(settings_.wire) {}

// Each request may end without an answer, each sink may be told that the connection is gone, and
// that must not fail for lack of memory.
void Session::make_room(std::size_t count, Sink& sink) {
  pending_.reserve(count);
  ended_.reserve(pending_.size() + unconfirmed_.size() + count);
  if (std::ranges::find(sinks_, &sink) == sinks_.end()) {
    notes_.reserve(4 * (sinks_.size() + 1));
    sinks_.push_back(&sink);
  }
}

void Session::submit(std::span<Request* const> requests, Sink& sink, TimePoint now) {
  now_ = std::max(now_, now);
  // What may throw comes first.
  make_room(requests.size(), sink);
  for (std::size_t index = 0; index < requests.size(); ++index) {
    if (requests[index]->verb != Verb::subscribe) continue;
    try {
      subscriptions_.add(*requests[index], sink);
    } catch (const std::bad_alloc&) {
      for (const Request* const added : requests.first(index)) {
        if (added->verb == Verb::subscribe) subscriptions_.remove(*added, sink);
      }
      throw;
    }
  }
  for (Request* const request : requests) {
    const TimePoint from = request->sent != TimePoint{} ? request->sent : now;
    enqueue({request, &sink, later(from, settings_.timeout), 0}, false);
  }
  hurry(now);
}

void Session::submit_again(const QueuedRequest& request, bool asking, TimePoint now) {
  now_ = std::max(now_, now);
  make_room(1, *request.sink);
  if (request.request->verb == Verb::subscribe) subscriptions_.add(*request.request, *request.sink);
  enqueue(request, asking);
  hurry(now);
}

void Session::enqueue(const QueuedRequest& request, bool asking) noexcept {
  InFlightCommand& pending = pending_.push();
  pending.start(*request.request, *request.sink, request.deadline);
  pending.asking = asking;
  pending.hops = request.hops;
  if (request.request->verb == Verb::unsubscribe) {
    subscriptions_.remove(*request.request, *request.sink);
  }
  waiting_due_ = std::min(waiting_due_, end_of(pending));
}

void Session::hurry(TimePoint now) noexcept {
  if (stage_ == Stage::up) return write_all();
  want(now);
  const bool tries = stage_ != Stage::down || now >= retry_at_;
  if (!tries && last_failure_ && last_failure_->is_certain()) end_questions();
}

void Session::want(TimePoint now) noexcept {
  wanted_until_ = later(now, asks_again_within);
  if (stage_ != Stage::down || !last_failure_) return;
  retry_at_ = std::min(retry_at_, failed_at_ + pause(attempts_, true));
}

void Session::write_all() noexcept {
  while (written_ < pending_.size() && !trouble_) write(pending_[written_]);
  drop_answerless();
  try {
    ask_replicas();
  } catch (const std::bad_alloc&) {
    trouble_ = no_memory();
  }
}

// A refusal of our own is decided here, so that it keeps its place in the order.
void Session::write(InFlightCommand& pending) noexcept {
  const std::size_t before = queued_.bytes().size();
  try {
    if (pending.request != nullptr) {
      const auto refusal = refusal_of(*pending.request);
      if (refusal) end(pending, Outcome::Kind::refused, *refusal);
    }
    write_ask(pending);
    pending.end = queued_end_ + queued_.bytes().size() - before;
    // Behind the request's own end: half a note is lost with the connection, and nothing with it.
    const bool noteworthy = pending.request != nullptr && !pending.request->note.empty();
    pending.noted = noteworthy && append_note(queued_, *pending.request);
  } catch (const std::bad_alloc&) {
    // Half a command may be in the stream: there is no way on with this connection.
    trouble_ = no_memory();
    return;
  }
  queued_end_ += queued_.bytes().size() - before;
  ++written_;
  if (pending.request != nullptr && wants_replicas(pending.verb)) replicas_wanted_ = true;
}

void Session::write_ask(InFlightCommand& pending) {
  if (pending.request == nullptr) {
    pending.ask = InFlightCommand::Ask::nothing;
    return;
  }
  pending.introduced = false;
  if (pending.asking) queued_.command({"ASKING"});
  switch (pending.ask) {
    case InFlightCommand::Ask::channels:
      return subscriptions_.append_change(queued_, *pending.request);
    case InFlightCommand::Ask::script_text:
      return append_eval(queued_, *pending.request, wire_, pending.cursor);
    default: return append_evalsha(queued_, *pending.request, wire_, pending.cursor);
  }
}

// The request ends, and only its place in the queue is left of it.
void Session::end(InFlightCommand& pending, Outcome::Kind kind, std::string_view text,
                  bool never_ran) noexcept {
  end(std::exchange(pending.request, nullptr), pending.sink, kind, text, never_ran);
}

void Session::end(Request* request, Sink* sink, Outcome::Kind kind, std::string_view text,
                  bool never_ran) noexcept {
  Ended& ended = ended_.push();
  ended.request = request;
  ended.sink = sink;
  ended.kind = kind;
  ended.token = 0;
  ended.never_ran = never_ran;
  try {
    ended.text = text;
  } catch (const std::bad_alloc&) {
    ended.text.clear();
  }
}

void Session::tell_all(Notification::Kind kind, std::string_view why) noexcept {
  for (Sink* const sink : sinks_) {
    Note& note = notes_.push();
    note.sink = sink;
    note.kind = kind;
    note.key.clear();
    note.id = {};
    try {
      note.text = why;
    } catch (const std::bad_alloc&) {
      note.text.clear();
    }
  }
}

void Session::serves(bool serves) noexcept {
  if (std::exchange(serves_, serves) == serves || serves) return;
  if (stage_ != Stage::up) tell_all(Notification::Kind::link_up, "other nodes serve its keys");
}

std::string_view Session::to_send() noexcept {
  if (!leaving_.empty()) return leaving_.bytes();
  leaving_greeting_ = stage_ == Stage::greeting;
  if (leaving_greeting_) {
    std::swap(leaving_, greeting_);
  } else if (stage_ == Stage::up && !trouble_) {
    std::swap(leaving_, queued_);
  }
  return leaving_.bytes();
}

bool Session::anything_to_send() const noexcept {
  if (!leaving_.empty()) return true;
  if (stage_ == Stage::greeting) return !greeting_.empty();
  return stage_ == Stage::up && !trouble_ && !queued_.empty();
}

void Session::sent(std::size_t count) noexcept {
  leaving_.drop_front(count);
  if (!leaving_greeting_) sent_end_ += count;
}

bool Session::is_working() const noexcept { return written_ > 0 && pending_[0].end <= sent_end_; }

std::size_t Session::backlog() const noexcept {
  return is_working() ? static_cast<std::size_t>(sent_end_ - pending_[0].end) : 0;
}

std::size_t Session::unsent() const noexcept {
  const CommandBuffer& next = stage_ == Stage::greeting ? greeting_ : queued_;
  return leaving_.bytes().size() + next.bytes().size();
}

void Session::forget() noexcept {
  stage_ = Stage::down;
  handshake_.forget();
  subscriptions_.clear();
  sinks_.clear();
  pending_.clear();
  written_ = first_live_ = 0;
  note_owed_ = false;
  unconfirmed_.clear();
  replicas_wanted_ = replicas_asked_ = replicas_missing_ = false;
  greeting_.clear();
  queued_.clear();
  leaving_.clear();
  sent_end_ = queued_end_;
  retry_at_ = failed_at_ = down_since_ = wanted_until_ = TimePoint{};
  waiting_due_ = Clock::never();
  attempts_ = 0;
  was_up_ = false;
  trouble_.reset();
  last_failure_.reset();
  ended_.clear();
  notes_.clear();
  unreplicated_releases_.clear();
  unanswered_channels_.clear();
}

}  // namespace latchkey::detail::redis
