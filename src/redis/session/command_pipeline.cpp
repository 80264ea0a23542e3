// The commands of one connection: their order, their bytes and their deadlines.
// SPDX-License-Identifier: BSL-1.0
#include "redis/session/command_pipeline.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "backend/verbs.hpp"

namespace latchkey::inline v1::detail::redis {

void CommandPipeline::pop() noexcept {
  queue_.pop();
  if (written_ > 0) --written_;
  if (first_live_ > 0) --first_live_;
  if (indexed_ == 0) return;
  --indexed_;
  if (indexed_ == 0) released_.clear();
}

// The slot that pop frees is the room that push needs.
void CommandPipeline::requeue_front(InFlightCommand::Kind kind, std::uint64_t cursor,
                                    bool alone) noexcept {
  Request& request = *front().request;
  Sink& sink = *front().sink;
  const TimePoint deadline = front().deadline;
  const bool asking = front().asking;
  const std::uint8_t hops = front().hops;
  const std::uint16_t slot = front().slot;
  alone = alone || front().alone;
  pop();
  InFlightCommand& again = queue_.push();
  again.start(request, sink, deadline);
  again.kind = kind;
  again.cursor = cursor;
  again.asking = asking;
  again.alone = alone;
  again.hops = hops;
  again.slot = slot;
}

std::size_t CommandPipeline::batch_length() const noexcept {
  const InFlightCommand& first = queue_[written_];
  std::size_t length = 1;
  if (!first.can_join_batch()) return length;
  while (length < CheckAnswers::most && written_ + length < queue_.size()) {
    const InFlightCommand& next = queue_[written_ + length];
    if (!next.can_join_batch() || !next.joins(first)) break;
    ++length;
  }
  return length;
}

// Checks of different holds may change places: a hold has one check under way at a time.
void CommandPipeline::group_checks_by_slot() noexcept {
  std::size_t end = written_;
  while (end < queue_.size() && queue_[end].can_join_batch()) ++end;
  if (end - written_ < 2) return;
  try {
    std::vector<InFlightCommand> checks(end - written_);
    for (std::size_t index = 0; index < checks.size(); ++index) {
      checks[index] = std::move(unwritten(index));
    }
    std::ranges::sort(checks, {}, &InFlightCommand::slot);
    for (std::size_t index = 0; index < checks.size(); ++index) {
      unwritten(index) = std::move(checks[index]);
    }
  } catch (const std::bad_alloc&) {
    // Fewer of them are sent together.
  }
}

// Without memory for the index the acquire is not repeated, which is never wrong.
bool CommandPipeline::front_is_overtaken() noexcept {
  const Verb verb = front().verb;
  if (verb != Verb::acquire && verb != Verb::acquire_all) return false;
  try {
    index_releases();
  } catch (const std::bad_alloc&) {
    return true;
  }
  if (verb == Verb::acquire) return released_.contains(front().id);
  return std::ranges::any_of(front().request->members,
                             [&](const Member& member) { return released_.contains(member.id); });
}

void CommandPipeline::index_releases() {
  for (; indexed_ < queue_.size(); ++indexed_) {
    const InFlightCommand& command = queue_[indexed_];
    if (!command.is_internal() && is_release(command.verb)) released_.insert(command.id);
  }
}

void CommandPipeline::clear() noexcept {
  queue_.clear();
  discard_bytes();
  written_ = first_live_ = indexed_ = 0;
  released_.clear();
  replies_to_skip_ = 0;
  waiting_expiry_ = Clock::never();
}

std::uint64_t CommandPipeline::stream_end() const noexcept {
  const std::size_t leaving = leaving_is_handshake_ ? 0 : leaving_.bytes().size();
  return sent_end_ + leaving + queued_.bytes().size();
}

std::string_view CommandPipeline::to_send(Lane lane) noexcept {
  if (!leaving_.empty()) return leaving_.bytes();
  leaving_is_handshake_ = lane == Lane::handshake;
  if (lane == Lane::handshake) std::swap(leaving_, handshake_);
  if (lane == Lane::commands) std::swap(leaving_, queued_);
  return leaving_.bytes();
}

bool CommandPipeline::anything_to_send(Lane lane) const noexcept {
  if (!leaving_.empty()) return true;
  if (lane == Lane::handshake) return !handshake_.empty();
  return lane == Lane::commands && !queued_.empty();
}

void CommandPipeline::sent(std::size_t count) noexcept {
  leaving_.drop_front(count);
  if (!leaving_is_handshake_) sent_end_ += count;
}

std::size_t CommandPipeline::unsent_bytes(bool handshake) const noexcept {
  return leaving_.bytes().size() + (handshake ? handshake_ : queued_).bytes().size();
}

std::size_t CommandPipeline::server_backlog() const noexcept {
  return is_server_busy() ? static_cast<std::size_t>(sent_end_ - front().end) : 0;
}

CommandPipeline::ReplyFor CommandPipeline::match_reply() noexcept {
  if (replies_to_skip_ > 0) {
    --replies_to_skip_;
    return ReplyFor::nobody;
  }
  drop_unsendable();
  if (written_ == 0) return ReplyFor::unexpected;
  if (front().replies_before > 0) {
    --front().replies_before;
    return ReplyFor::nobody;
  }
  replies_to_skip_ = front().replies_after;
  return ReplyFor::front;
}

void CommandPipeline::drop_unsendable() noexcept {
  while (written_ > 0 && front().kind == InFlightCommand::Kind::nothing) pop();
}

void CommandPipeline::discard_bytes() noexcept {
  handshake_.clear();
  queued_.clear();
  leaving_.clear();
}

void CommandPipeline::rewind() noexcept {
  written_ = 0;
  replies_to_skip_ = 0;
  for (std::size_t index = 0; index < queue_.size(); ++index) {
    queue_[index].cursor = 0;  // cursors are valid on one server only
  }
}

CommandPipeline::TimePoint CommandPipeline::next_expiry(bool is_up) const noexcept {
  if (!has_live_requests()) return Clock::never();
  return is_up ? queue_[first_live_].deadline : waiting_expiry_;
}

}  // namespace latchkey::inline v1::detail::redis
