// The records that a request brings from a segment and writes back.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>

#include "host/shared_table_change.hpp"

namespace latchkey::inline v1::detail::host {
namespace {

template <class List>
bool contains(const List& list, const HoldId& id) noexcept {
  return std::ranges::any_of(list, [&](const auto& each) { return each.id == id; });
}

bool concerns(const LockRecord& record, const HoldId& id) noexcept {
  return contains(record.holders, id) || contains(record.queue, id) ||
         contains(record.processes, id);
}

bool prolongs(Verb verb) noexcept {
  return verb == Verb::acquire || verb == Verb::acquire_all || verb == Verb::renew ||
         verb == Verb::downgrade;
}

/// The id by which the request may hold this key or wait for it; number 0: none.
HoldId id_of(const Request* request, std::string_view key) noexcept {
  if (request == nullptr) return {};
  if (request->verb != Verb::acquire_all) return request->id;
  const auto its = std::ranges::find(request->members, key, &Member::key);
  return its == request->members.end() ? HoldId{} : its->id;
}

}  // namespace

void SharedTable::bring(EntryTable& entries, Brought& to, std::string_view key,
                        std::uint64_t hash) {
  close_bucket(entries, EntryTable::bucket_of(hash));
  to.key = key;
  to.hash = hash;
  to.traces.clear();
  const EntryTable::Found found = entries.find(EntryKind::lock, key, hash);
  to.existed = found.index != 0;
  if (!to.existed) return;
  entries.read(found.index, to.value);
  to.first_end = entries.head(found.index).first_end;
  LockRecord& record = locks_.bring(key, hash);
  record.first_end = time_of(to.first_end);
  read_record(to.value, record, to.traces,
              [this](SinkNumber number) -> Subscriber& { return subscriber(number); });
}

// Who gave up a place or a hold leaves no trace; the caller's own are new.
void SharedTable::trace_new(const LockRecord& record, Brought& from, const Request* request) {
  std::erase_if(from.traces, [&](const Trace& each) { return !concerns(record, each.id); });
  const HoldId id = id_of(request, from.key);
  if (id.number == 0 || !concerns(record, id)) return;
  auto its = std::ranges::find(from.traces, id, &Trace::id);
  if (its == from.traces.end()) {
    its = from.traces.insert(its, {id, static_cast<std::uint32_t>(session_.slot()), {}, {}});
  }
  if (prolongs(request->verb)) its->lock_delay = request->lock_delay;
  if (!request->note.empty()) its->note = request->note.substr(0, 512);
}

void SharedTable::write_back(EntryTable& entries, Brought& from, const Request* request) {
  LockRecord* const record = locks_.find(from.key, from.hash);
  const bool remains = record != nullptr && !record->idle();
  if (remains) {
    trace_new(*record, from, request);
    encode(*record, from.traces);
  }
  const std::int64_t first_end = remains ? ticks(record->first_end) : 0;
  if (record != nullptr) locks_.take_away(*record);
  if (!remains && !from.existed) return;
  if (remains && from.existed && first_end == from.first_end && value_ == from.value) return;
  // Another entry of the bucket may have been written meanwhile.
  const EntryTable::Found found = entries.find(EntryKind::lock, from.key, from.hash);
  if (!remains) {
    entries.erase(found);
  } else if (from.existed) {
    entries.replace(found, first_end, value_);
  } else {
    entries.insert(found, EntryKind::lock, from.key, from.hash, first_end, value_);
  }
}

void SharedTable::encode(const LockRecord& record, std::span<const Trace> traces) {
  write_record(
      record, traces,
      [](const Subscriber& each) { return static_cast<const SlotSubscriber&>(each).number(); },
      value_);
}

void SharedTable::take_away_all() noexcept {
  for (std::size_t index = 0; index < brought_count_; ++index) {
    const Brought& each = brought_[index];
    if (LockRecord* const record = locks_.find(each.key, each.hash)) locks_.take_away(*record);
  }
  brought_count_ = 0;
  counts_.clear();
  revocations_.clear();
}

CountTable::Latch SharedTable::read_subscribers(EntryTable& entries, EntryTable::Index index) {
  entries.read(index, value_);
  ByteReader reader(value_);
  CountTable::Latch latch;
  latch.count = reader.get<std::uint32_t>();
  for (std::uint32_t left = reader.get<std::uint32_t>(); left > 0; --left) {
    latch.subscribers.push_back(&subscriber(reader.get<SinkNumber>()));
  }
  return latch;
}

void SharedTable::write_subscribers(EntryTable& entries, EntryKind kind, std::string_view key,
                                    const CountTable::Latch* latch) {
  const std::uint64_t hash = hash_key(key);
  const EntryTable::Found found = entries.find(kind, key, hash);
  if (latch == nullptr) {
    if (found.index != 0) entries.erase(found);
    return;
  }
  ByteWriter writer(value_);
  writer.put(latch->count);
  writer.put(static_cast<std::uint32_t>(latch->subscribers.size()));
  for (const Subscriber* const each : latch->subscribers) {
    writer.put(static_cast<const SlotSubscriber*>(each)->number());
  }
  const std::int64_t never = ticks(Clock::never());
  if (found.index != 0) return entries.replace(found, never, value_);
  entries.insert(found, kind, key, hash, never, value_);
}

// --- thin words: how the locks of a bucket come to the table and leave it ---

void SharedTable::make_thin_cells() {
  try {
    change([&](EntryTable& entries) {
      Slot& own = session_.own_slot();
      entries.use_reserve(false);
      if (own.thin_cells.load() == 0) entries.make_thin_cells(own, ThinLocks::cell_count);
    });
  } catch (const Unusable&) {
    return;  // the segment is full: each lock goes through the table
  }
}

void SharedTable::close_bucket(EntryTable& entries, std::size_t bucket) {
  if (closed_.empty() || closed_.back() != bucket) closed_.push_back(bucket);
  const std::uint64_t was = entries.close(bucket);
  if (!ThinWord::is_held(was)) return;
  const bool before = entries.use_reserve(true);  // the hold is none that is made now
  move_to_table(entries, bucket, was);
  entries.use_reserve(before);
}

bool SharedTable::end_thin_hold(EntryTable& entries, std::string_view key, std::uint64_t hash) {
  const std::size_t bucket = EntryTable::bucket_of(hash);
  closed_.push_back(bucket);
  const std::uint64_t was = entries.close(bucket);
  if (!ThinWord::is_held(was)) return false;
  const ThinHold& thin = entries.thin_hold(was);
  const bool is_its = std::string_view(thin.key.data(), thin.key_size) == key;
  if (is_its && (was & ThinWord::awaited) == 0) return true;
  move_to_table(entries, bucket, was);
  return false;
}

void SharedTable::move_to_table(EntryTable& entries, std::size_t bucket, std::uint64_t word) {
  const ThinHold& thin = entries.thin_hold(word);
  const std::string_view key(thin.key.data(), thin.key_size);
  if (EntryTable::bucket_of(thin.hash) != bucket ||
      thin.type >= static_cast<std::uint32_t>(LockType::PERMIT)) {
    throw Damaged("a thin hold in a wrong place");
  }
  const SimpleHold hold{.id = thin.id,
                        .type = static_cast<LockType>(thin.type),
                        .slot = static_cast<std::uint32_t>(ThinWord::slot_of(word)),
                        .ends = thin.ends,
                        .lock_delay = thin.lock_delay};
  const EntryTable::Found found = entries.find(EntryKind::lock, key, thin.hash);
  if (found.index == 0) {
    const SimpleRecord record = simple_record(hold);
    const auto bytes = std::as_bytes(std::span(&record, 1)).first(simple_size);
    return entries.insert(found, EntryKind::lock, key, thin.hash, hold.ends, bytes);
  }
  LockRecord record;
  std::vector<Trace> traces;
  entries.read(found.index, value_);
  read_record(value_, record, traces,
              [this](SinkNumber number) -> Subscriber& { return subscriber(number); });
  if (record.mode != LockRecord::Mode::free) throw Damaged("a thin hold beside another");
  record.hold(hold.id, time_of(hold.ends), 0, LockRecord::mode_of(hold.type));
  traces.push_back({hold.id, hold.slot, std::chrono::milliseconds(hold.lock_delay), {}});
  encode(record, traces);
  entries.replace(found, std::min(entries.head(found.index).first_end, hold.ends), value_);
}

void SharedTable::open_buckets(EntryTable& entries) {
  for (const std::size_t bucket : closed_) {
    if (entries.thin_word(bucket) != ThinWord::in_table) continue;  // it was closed twice
    std::size_t locks = 0;
    EntryTable::Index last = 0;
    entries.for_bucket(bucket, [&](EntryTable::Index index) {
      if (entries.head(index).kind != static_cast<std::uint32_t>(EntryKind::lock)) return;
      ++locks;
      last = index;
    });
    if (locks == 0) {
      entries.open(bucket, 0);
    } else if (locks == 1) {
      entries.read(last, value_);
      if (lets_others_first(value_, clock_.now())) entries.open(bucket, ThinWord::awaited);
    }
  }
  closed_.clear();
}

}  // namespace latchkey::inline v1::detail::host
