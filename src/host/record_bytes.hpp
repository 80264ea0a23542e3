// The records of the lock table as bytes of a segment.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>

#include "host/bytes.hpp"
#include "memory/lock_record.hpp"

namespace latchkey::inline v1::detail::host {

/// The process of a hold or of a place in line, and how it describes itself.
struct Trace {
  HoldId id;
  std::uint32_t slot = 0;
  /// For so long the key stays locked if the process dies.
  std::chrono::milliseconds lock_delay{};
  std::string note{};
};

/// Who receives a notification: a sink of a process.
struct SinkNumber {
  std::uint32_t slot = 0, sink = 0;
  friend auto operator<=>(const SinkNumber&, const SinkNumber&) = default;
};

/// The beginning of a record. `holders` and the others are numbers of what follows,
/// in this order.
struct RecordHead {
  std::int64_t kept_for_writer, revocation_ends, processes_end, turn_ends;
  std::uint64_t called_place;
  std::uint32_t total;
  std::uint32_t mode;
  std::uint32_t holders, queue, processes, subscriptions, traces;
  std::uint32_t unused;
};
struct HolderBytes {
  HoldId id;
  std::int64_t ends;
  std::uint64_t token;
  std::int64_t revoked;
  std::uint32_t permits;
  std::uint32_t outlives_process;
};
struct TraceBytes {
  HoldId id;
  std::int64_t lock_delay;
  std::uint32_t slot;
  std::uint32_t unused;
};

/// The record of an uncontended lock: one holder and nothing else.
struct SimpleRecord {
  RecordHead head;
  HolderBytes holder;
  TraceBytes trace;
  std::uint32_t note_size;
  std::uint32_t unused;
};
inline constexpr std::size_t simple_size = sizeof(SimpleRecord) - 4;

[[nodiscard]] constexpr std::int64_t ticks(Clock::time_point time) noexcept {
  return time.time_since_epoch().count();
}
[[nodiscard]] constexpr Clock::time_point time_of(std::int64_t ticks) noexcept {
  return Clock::time_point(Clock::duration(ticks));
}

/// A hold that was never in a record.
struct SimpleHold {
  HoldId id;
  LockType type;
  std::uint32_t slot;
  std::int64_t ends;
  std::int64_t lock_delay;  ///< ms
};
[[nodiscard]] SimpleRecord simple_record(const SimpleHold& hold) noexcept;
/// Whether the bytes are those of a record that `request`, a release, leaves without anything.
[[nodiscard]] bool is_simple_hold(std::span<const std::byte> bytes, const Request& request,
                                  Clock::time_point now) noexcept;

/// Whether the bytes are those of a lock that is free and that, at `now`, any request may take
/// although others may wait for it; nobody has to be told when it is given back. Throws Damaged.
[[nodiscard]] bool lets_others_first(std::span<const std::byte> bytes, Clock::time_point now);

/// `Number(const Subscriber&)` returns a SinkNumber.
template <class Number>
void write_record(const LockRecord& record, std::span<const Trace> traces, Number&& number,
                  std::vector<std::byte>& to);
/// `Find(SinkNumber)` returns a Subscriber&. Throws Damaged.
template <class Find>
void read_record(std::span<const std::byte> from, LockRecord& record, std::vector<Trace>& traces,
                 Find&& find);

// --- definitions ---

struct SubscriptionBytes {
  SinkNumber sink;
  HoldId id;
  std::uint64_t grants;
};
struct PlaceBytes {
  HoldId id;
  std::int64_t ends;
  std::uint64_t grantable;
};
struct ProcessBytes {
  HoldId id;
  std::int64_t lease, ends;
  std::uint64_t place;
  std::uint32_t type, tokens;
};

template <class Number>
void write_record(const LockRecord& record, std::span<const Trace> traces, Number&& number,
                  std::vector<std::byte>& to) {
  const auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
  ByteWriter writer(to);
  writer.put(RecordHead{.kept_for_writer = ticks(record.kept_for_writer),
                        .revocation_ends = ticks(record.revocation_ends),
                        .processes_end = ticks(record.processes_end),
                        .turn_ends = ticks(record.turn_ends),
                        .called_place = record.called_place,
                        .total = record.total,
                        .mode = static_cast<std::uint32_t>(record.mode),
                        .holders = count(record.holders),
                        .queue = count(record.queue),
                        .processes = count(record.processes),
                        .subscriptions = count(record.subscriptions),
                        .traces = count(traces),
                        .unused = 0});
  for (const LockRecord::Holder& each : record.holders) {
    writer.put(HolderBytes{each.id, ticks(each.ends), each.token, ticks(each.revoked), each.permits,
                           each.outlives_process ? 1U : 0U});
  }
  for (const LockRecord::Place& each : record.queue) {
    writer.put(PlaceBytes{each.id, ticks(each.ends), each.grantable ? 1U : 0U});
  }
  for (const LockRecord::Process& each : record.processes) {
    writer.put(ProcessBytes{each.id, each.lease.count(), ticks(each.ends), each.place,
                            static_cast<std::uint32_t>(each.type), each.tokens});
  }
  for (const LockRecord::Subscription& each : record.subscriptions) {
    writer.put(SubscriptionBytes{number(*each.subscriber), each.id, each.grants ? 1U : 0U});
  }
  for (const Trace& each : traces) {
    writer.put(TraceBytes{each.id, each.lock_delay.count(), each.slot, 0});
    writer.put(std::string_view(each.note));
  }
}

template <class Find>
void read_record(std::span<const std::byte> from, LockRecord& record, std::vector<Trace>& traces,
                 Find&& find) {
  ByteReader reader(from);
  const auto head = reader.get<RecordHead>();
  if (head.mode > static_cast<std::uint32_t>(LockRecord::Mode::permits)) {
    throw Damaged("a record of an unknown mode");
  }
  const auto mode = static_cast<LockRecord::Mode>(head.mode);
  if ((mode == LockRecord::Mode::free) != (head.holders == 0)) {
    throw Damaged("a mode without a holder, or the reverse");
  }
  record.mode = mode;
  record.total = head.total;
  record.kept_for_writer = time_of(head.kept_for_writer);
  record.revocation_ends = time_of(head.revocation_ends);
  record.processes_end = time_of(head.processes_end);
  record.turn_ends = time_of(head.turn_ends);
  record.called_place = head.called_place;
  for (std::uint32_t left = head.holders; left > 0; --left) {
    const auto its = reader.get<HolderBytes>();
    LockRecord::Holder& holder =
        record.holders.emplace_back(LockRecord::Holder{its.id, time_of(its.ends), its.token});
    holder.permits = its.permits;
    holder.outlives_process = its.outlives_process != 0;
    holder.revoked = time_of(its.revoked);
  }
  for (std::uint32_t left = head.queue; left > 0; --left) {
    const auto its = reader.get<PlaceBytes>();
    record.queue.push_back({its.id, time_of(its.ends), its.grantable != 0});
  }
  for (std::uint32_t left = head.processes; left > 0; --left) {
    const auto its = reader.get<ProcessBytes>();
    if (its.type > static_cast<std::uint32_t>(LockType::PERMIT)) {
      throw Damaged("a place of an unknown lock type");
    }
    record.processes.push_back({its.id, static_cast<LockType>(its.type),
                                std::chrono::milliseconds(its.lease), its.tokens, its.place,
                                time_of(its.ends)});
  }
  for (std::uint32_t left = head.subscriptions; left > 0; --left) {
    const auto its = reader.get<SubscriptionBytes>();
    record.subscriptions.push_back({&find(its.sink), its.id, its.grants != 0});
  }
  traces.clear();
  for (std::uint32_t left = head.traces; left > 0; --left) {
    const auto its = reader.get<TraceBytes>();
    traces.push_back(
        {its.id, its.slot, std::chrono::milliseconds(its.lock_delay), std::string(reader.text())});
  }
}

}  // namespace latchkey::inline v1::detail::host
