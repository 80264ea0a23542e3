// Checks that are sent as one call.
// SPDX-License-Identifier: BSL-1.0
#include "redis/session/check_batcher.hpp"

#include <array>

#include "redis/protocol/script_call.hpp"

namespace latchkey::inline v1::detail::redis {

using CommandKind = InFlightCommand::Kind;
using Answer = CheckAnswers::Answer;

void CheckBatcher::write(std::size_t count, bool watches) {
  std::array<const Request*, CheckAnswers::most> requests;
  for (std::size_t index = 0; index < count; ++index) {
    requests[index] = pipeline_.unwritten(index).request;
  }
  InFlightCommand& first = pipeline_.unwritten(0);
  append_check_batch(pipeline_.stream(), {requests.data(), count},
                     first.kind == CommandKind::script_text, layout_);
  const std::uint64_t end = pipeline_.stream_end();
  first.replies_before = 0;
  first.replies_after = append_notes(count);
  if (watches) first.replies_after += append_watch(pipeline_.stream(), {requests.data(), count});
  first.batch = static_cast<std::uint8_t>(count);
  for (std::size_t index = 0; index < count; ++index) {
    InFlightCommand& command = *pipeline_.next_to_write();
    command.end = end;
    pipeline_.mark_written();
    if (replicas_.applies_to(command.verb)) replicas_.require();
  }
}

std::uint8_t CheckBatcher::append_notes(std::size_t count) {
  std::uint8_t notes = 0;
  for (std::size_t index = 0; index < count; ++index) {
    const Request& request = *pipeline_.unwritten(index).request;
    if (!request.note.empty() && append_note(pipeline_.stream(), request, layout_)) ++notes;
  }
  return notes;
}

void CheckBatcher::on_reply(const redisReply& reply) {
  const CheckAnswers answers = read_check_answers(reply);
  const bool lacks_script = is_noscript(reply) && pipeline_.front().kind == CommandKind::script;
  const std::size_t count = pipeline_.front().batch;
  for (std::size_t index = 0; index < count; ++index) {
    const Answer answer = answers.of(index);
    if (pipeline_.front().request == nullptr) {
      pipeline_.pop();
    } else if (answer == Answer::unclear) {
      pipeline_.requeue_front(lacks_script ? CommandKind::script_text : CommandKind::script, 0,
                              !lacks_script);
    } else {
      complete(pipeline_.front(), answer);
      pipeline_.pop();
    }
  }
}

void CheckBatcher::complete(const InFlightCommand& command, Answer answer) {
  const bool held = answer == Answer::held;
  const DeliveryQueue::Completion completion{command.request, command.sink,
                                             held ? Outcome::Kind::granted : Outcome::Kind::gone};
  if (held && replicas_.applies_to(command.verb)) {
    replicas_.await(completion, command.deadline);
  } else {
    deliveries_.complete(completion, {});
  }
}

}  // namespace latchkey::inline v1::detail::redis
