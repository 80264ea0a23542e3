// Checks that are sent as one call.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <cstddef>
#include <cstdint>

#include "redis/protocol/check_batch.hpp"
#include "redis/session/command_pipeline.hpp"
#include "redis/session/delivery_queue.hpp"
#include "redis/session/replica_acknowledgement.hpp"

namespace latchkey::inline v1::detail::redis {

/// Writes checks of a session that follow one another as one call of lua/check_batch.lua, and gives
/// each of them its own outcome. Pure; one thread at a time.
///
/// A check whose answer is unclear is sent once more by itself, so that its errors are those of a
/// single check: the lock has another type, a permission is missing, the server is a replica. If
/// the server rejects the whole call, all of them are.
class CheckBatcher {
 public:
  /// The parts of the session, which outlive this.
  CheckBatcher(CommandPipeline& pipeline, ReplicaAcknowledgement& replicas,
               DeliveryQueue& deliveries, const Layout& layout) noexcept
      : pipeline_(pipeline), replicas_(replicas), deliveries_(deliveries), layout_(layout) {}

  /// Writes the next `count` commands of the pipeline as one call. `watches`: the server watches
  /// the keys of those that ask for it. Throws std::bad_alloc.
  void write(std::size_t count, bool watches);
  /// The reply to the oldest command, which is the first of a call. The caller then writes the
  /// checks that are sent once more. Throws std::bad_alloc.
  void on_reply(const redisReply& reply);

 private:
  std::uint8_t append_notes(std::size_t count);
  void complete(const InFlightCommand& command, CheckAnswers::Answer answer);

  CommandPipeline& pipeline_;
  ReplicaAcknowledgement& replicas_;
  DeliveryQueue& deliveries_;
  const Layout& layout_;
};

}  // namespace latchkey::inline v1::detail::redis
