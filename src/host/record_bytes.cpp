// The records of the lock table as bytes of a segment.
// SPDX-License-Identifier: BSL-1.0
#include "host/record_bytes.hpp"

#include <cstring>

namespace latchkey::inline v1::detail::host {

SimpleRecord simple_record(const SimpleHold& hold) noexcept {
  return {.head = {.kept_for_writer = ticks(Clock::time_point::min()),
                   .revocation_ends = ticks(Clock::time_point::min()),
                   .processes_end = ticks(Clock::never()),
                   .turn_ends = ticks(Clock::time_point::min()),
                   .called_place = 0,
                   .total = 0,
                   .mode = static_cast<std::uint32_t>(LockRecord::mode_of(hold.type)),
                   .holders = 1,
                   .queue = 0,
                   .processes = 0,
                   .subscriptions = 0,
                   .traces = 1,
                   .unused = 0},
          .holder = {.id = hold.id,
                     .ends = hold.ends,
                     .token = 0,
                     .revoked = ticks(Clock::time_point::min()),
                     .permits = 0,
                     .outlives_process = 0},
          .trace = {.id = hold.id, .lock_delay = hold.lock_delay, .slot = hold.slot, .unused = 0},
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

bool lets_others_first(std::span<const std::byte> bytes, Clock::time_point now) {
  ByteReader reader(bytes);
  const auto head = reader.get<RecordHead>();
  if (head.holders != 0 || head.queue != 0 || head.total != 0 ||
      head.kept_for_writer != ticks(Clock::time_point::min())) {
    return false;
  }
  std::uint64_t first_place = 0;
  for (std::uint32_t index = 0; index < head.processes; ++index) {
    const auto its = reader.get<ProcessBytes>();
    if (index == 0) first_place = its.place;
  }
  for (std::uint32_t left = head.subscriptions; left > 0; --left) {
    if (reader.get<SubscriptionBytes>().grants == 0) return false;
  }
  if (head.processes == 0) return head.subscriptions != 0;
  return first_place == head.called_place && ticks(now) < head.turn_ends;
}

}  // namespace latchkey::inline v1::detail::host
