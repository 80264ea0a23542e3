// The holds, places and subscriptions of a dead process, and how they end.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <optional>

#include "host/shared_table_change.hpp"

namespace latchkey::inline v1::detail::host {
namespace {

constexpr std::size_t buckets_at_a_time = 1024;

LockType type_of(LockRecord::Mode mode) noexcept {
  switch (mode) {
    case LockRecord::Mode::read: return LockType::READ;
    case LockRecord::Mode::write: return LockType::WRITE;
    case LockRecord::Mode::permits: return LockType::PERMIT;
    case LockRecord::Mode::free:
    case LockRecord::Mode::plain: break;
  }
  return LockType::FAIR;  // its release serves both queues
}

}  // namespace

void SharedTable::reap_the_dead() {
  for (std::size_t slot = 0; slot < slot_count; ++slot) {
    const std::uint64_t name = session_.name_of(slot);
    if (name == 0 || slot == session_.slot() || !session_.is_dead(slot)) continue;
    reap(slot, name);
  }
}

void SharedTable::reap(std::size_t slot, std::uint64_t name) {
  const std::uint64_t pid = session_.slot_at(slot).pid.load();
  for (std::size_t first = 0; first < bucket_count; first += buckets_at_a_time) {
    if (!reap_in(first, slot, name, pid)) return;  // somebody else was faster
  }
  clear_slot(slot, name, true);
  FifoPaths(session_.place().path, name).remove();
  session_.peers().forget(slot);
}

void SharedTable::settle_inheritance() {
  if (!session_.inherits()) return;
  const std::uint64_t name = session_.name_of(session_.slot());
  for (std::size_t first = 0; first < bucket_count; first += buckets_at_a_time) {
    static_cast<void>(reap_in(first, session_.slot(), name, 0));
  }
  clear_slot(session_.slot(), name, false);
  session_.has_settled_inheritance();
}

// Its listener is told of nothing: it is this process that ends.
void SharedTable::leave() {
  const std::uint64_t name = session_.name_of(session_.slot());
  for (std::size_t first = 0; first < bucket_count; first += buckets_at_a_time) {
    static_cast<void>(reap_in(first, session_.slot(), name, 0));
  }
  clear_slot(session_.slot(), name, false);
}

// False: the slot is no longer that of the process. Each record is a change of its own, so that a
// reaping that is itself ended at any point is continued by somebody else.
bool SharedTable::reap_in(std::size_t first_bucket, std::size_t slot, std::uint64_t name,
                          std::uint64_t pid) {
  bool is_there = true;
  change([&](EntryTable& entries) {
    is_there = session_.name_of(slot) == name;
    if (!is_there) return;
    std::vector<std::pair<EntryKind, std::string>> touched;
    for (std::size_t at = first_bucket; at < first_bucket + buckets_at_a_time; ++at) {
      const std::uint64_t thin = entries.thin_word(at);
      if (ThinWord::is_held(thin) && ThinWord::slot_of(thin) == slot) {
        reap_thin_hold(entries, at, thin, pid);
      }
      entries.for_bucket(at, [&](EntryTable::Index index) {
        if (!mentions(entries, index, slot)) return;
        touched.emplace_back(static_cast<EntryKind>(entries.head(index).kind), entries.key(index));
      });
    }
    for (const auto& [kind, key] : touched) {
      if (kind == EntryKind::lock) {
        reap_record(entries, key, slot, pid);
      } else {
        reap_subscribers(entries, kind, key, slot);
      }
      entries.commit();
    }
  });
  return is_there;
}

// Nobody waits for most of them: one store frees these, and needs no room in the segment.
void SharedTable::reap_thin_hold(EntryTable& entries, std::size_t bucket, std::uint64_t word,
                                 std::uint64_t pid) {
  const ThinHold& hold = entries.thin_hold(word);
  if ((word & ThinWord::awaited) != 0 || hold.lock_delay > 0) {
    return close_bucket(entries, bucket);
  }
  const LockRecord::Mode mode = LockRecord::mode_of(static_cast<LockType>(hold.type));
  if (pid != 0) {
    const LockType type = mode == LockRecord::Mode::plain ? LockType::REENTRANT : type_of(mode);
    abandoned_.push_back({std::string(hold.key.data(), hold.key_size), type, pid});
  }
  entries.open(bucket, 0);
}

bool SharedTable::mentions(EntryTable& entries, EntryTable::Index index, std::size_t slot) {
  entries.read(index, value_);
  ByteReader reader(value_);
  if (entries.head(index).kind != static_cast<std::uint32_t>(EntryKind::lock)) {
    static_cast<void>(reader.get<std::uint32_t>());
    for (std::uint32_t left = reader.get<std::uint32_t>(); left > 0; --left) {
      if (reader.get<SinkNumber>().slot == slot) return true;
    }
    return false;
  }
  const auto head = reader.get<RecordHead>();
  const auto skip = [&]<class Each>(std::uint32_t count, Each) {
    for (; count > 0; --count) static_cast<void>(reader.get<Each>());
  };
  skip(head.holders, HolderBytes{});
  skip(head.queue, PlaceBytes{});
  skip(head.processes, ProcessBytes{});
  bool found = false;
  for (std::uint32_t left = head.subscriptions; left > 0; --left) {
    found = found || reader.get<SubscriptionBytes>().sink.slot == slot;
  }
  for (std::uint32_t left = head.traces; left > 0 && !found; --left) {
    found = reader.get<TraceBytes>().slot == slot;
    static_cast<void>(reader.text());
  }
  return found;
}

// Its subscriptions go first, so that nothing is granted to it; then its places, then its holds.
void SharedTable::reap_record(EntryTable& entries, const std::string& key, std::size_t slot,
                              std::uint64_t pid) {
  const std::uint64_t hash = hash_key(key);
  const Clock::time_point now = clock_.now();
  with_record(entries, key, hash, [&] {
    const auto its = [&](std::uint32_t of) { return of == slot; };
    std::erase_if(locks_.find(key, hash)->subscriptions, [&](const auto& each) {
      return its(static_cast<const SlotSubscriber*>(each.subscriber)->number().slot);
    });
    std::vector<Trace> traces = brought_[0].traces;
    std::erase_if(traces, [&](const Trace& each) { return !its(each.slot); });
    for (const bool holds : {false, true}) {
      for (const Trace& trace : traces) {
        LockRecord* const record = locks_.find(key, hash);
        if (record == nullptr) return;
        const auto holder = std::ranges::find(record->holders, trace.id, &LockRecord::Holder::id);
        if (holds != (holder != record->holders.end())) continue;
        Request leave;
        leave.verb = Verb::leave;
        leave.key = key;
        leave.id = trace.id;
        leave.type = LockType::FAIR;
        if (holds) {
          if (holder->outlives_process) continue;
          leave.type = type_of(record->mode);
          if (trace.lock_delay.count() > 0) {
            leave.verb = Verb::expire;
            leave.lease = trace.lock_delay;
          }
          const bool is_plain = record->mode == LockRecord::Mode::plain;
          if (pid != 0) {
            abandoned_.push_back({key, is_plain ? LockType::REENTRANT : leave.type, pid});
          }
        } else {
          leave.queues = true;
        }
        Outcome outcome;
        with_numbers(entries, [&] { locks_.apply(leave, hash, now, nullptr, outcome); });
      }
    }
    // A hold that outlives its process is nobody's.
    for (Trace& trace : brought_[0].traces) {
      if (its(trace.slot)) trace.slot = slot_count;
    }
  });
}

void SharedTable::reap_subscribers(EntryTable& entries, EntryKind kind, const std::string& key,
                                   std::size_t slot) {
  const EntryTable::Found found = entries.find(kind, key, hash_key(key));
  if (found.index == 0) throw Damaged("a list that changes while it is read");
  CountTable::Latch latch = read_subscribers(entries, found.index);
  std::erase_if(latch.subscribers, [&](const Subscriber* each) {
    return static_cast<const SlotSubscriber*>(each)->number().slot == slot;
  });
  const bool remains = latch.count != 0 || !latch.subscribers.empty();
  write_subscribers(entries, kind, key, remains ? &latch : nullptr);
}

// `free`: the slot is for another process from now on.
void SharedTable::clear_slot(std::size_t slot, std::uint64_t name, bool free) {
  change([&](EntryTable& entries) {
    if (session_.name_of(slot) != name) return;
    Slot& its = session_.slot_at(slot);
    while (its.inbox_first.load() != 0) {
      entries.take_notes(its, 128, [](std::span<const std::byte>) {});
      entries.commit();
    }
    entries.put(its.missed, 0);
    entries.free_thin_cells(its);
    if (!free) return;
    entries.put(its.name, 0);
    Word& members = session_.layout().header.members;
    entries.put(members, members.load() + 1);
  });
}

}  // namespace latchkey::inline v1::detail::host
