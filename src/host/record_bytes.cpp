// The records of the lock table as bytes of a segment.
// SPDX-License-Identifier: BSL-1.0
#include "host/record_bytes.hpp"

#include <cstring>

namespace latchkey::inline v1::detail::host {

SimpleRecord simple_record(const Request& request, std::uint32_t slot,
                           Clock::time_point ends) noexcept {
  return {.head = {.kept_for_writer = ticks(Clock::time_point::min()),
                   .revocation_ends = ticks(Clock::time_point::min()),
                   .processes_end = ticks(Clock::never()),
                   .total = 0,
                   .mode = static_cast<std::uint32_t>(LockRecord::mode_of(request.type)),
                   .holders = 1,
                   .queue = 0,
                   .processes = 0,
                   .subscriptions = 0,
                   .traces = 1,
                   .unused = 0},
          .holder = {.id = request.id,
                     .ends = ticks(ends),
                     .token = 0,
                     .revoked = ticks(Clock::time_point::min()),
                     .permits = 0,
                     .outlives_process = 0},
          .trace = {.id = request.id,
                    .lock_delay = request.lock_delay.count(),
                    .slot = slot,
                    .unused = 0},
          .note_size = 0,
          .unused = 0};
}

bool is_simple_hold(std::span<const std::byte> bytes, const Request& request,
                    Clock::time_point now) noexcept {
  if (bytes.size() < sizeof(RecordHead) + sizeof(HolderBytes)) return false;
  RecordHead head;
  HolderBytes holder;
  std::memcpy(&head, bytes.data(), sizeof head);
  std::memcpy(&holder, bytes.data() + sizeof head, sizeof holder);
  const bool alone = head.holders == 1 && head.queue == 0 && head.processes == 0 &&
                     head.subscriptions == 0 && head.total == 0 &&
                     head.kept_for_writer == ticks(Clock::time_point::min());
  return alone && holder.id == request.id && holder.ends > ticks(now) &&
         head.mode == static_cast<std::uint32_t>(LockRecord::mode_of(request.type));
}

}  // namespace latchkey::inline v1::detail::host
