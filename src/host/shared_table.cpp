// The requests of a segment's lock table.
// SPDX-License-Identifier: BSL-1.0
#include "host/shared_table.hpp"

#include <algorithm>
#include <utility>

#include "host/shared_table_change.hpp"

namespace latchkey::inline v1::detail::host {
namespace {

using Kind = Outcome::Kind;

bool makes_a_hold(const Request& request) noexcept {
  return request.verb == Verb::acquire || request.verb == Verb::acquire_all;
}

/// Whether a segment may be too full for the request.
bool makes_something(Verb verb) noexcept {
  return verb == Verb::acquire || verb == Verb::acquire_all || verb == Verb::subscribe ||
         verb == Verb::latch_set || verb == Verb::resize;
}

/// Requests of people, who want to see who is dead.
bool is_administrative(Verb verb) noexcept {
  return verb == Verb::inspect || verb == Verb::list || verb == Verb::force_release;
}

}  // namespace

void SharedTable::apply(const Request& request, std::uint32_t sink, Outcome& outcome) {
  turn_ends_ = Clock::never();
  if (is_administrative(request.verb)) reap_the_dead();
  if (request.verb == Verb::list) {
    list(request);
    outcome.kind = Kind::granted;
    return;
  }
  apply_once(request, sink, outcome);
  // The holder, or a waiter in front, may have died while nobody watched it.
  for (int round = 0; round < 3 && makes_a_hold(request) && outcome.kind == Kind::busy; ++round) {
    if (!reap_holders()) return;
    outcome = Outcome{};
    apply_once(request, sink, outcome);
  }
}

// The time is not that of the request, which may be a tick old: a turn is shorter than that. It is
// read with the segment's lock, so that no request has an earlier time than the one before it: a
// release with a time before the end of a turn that somebody else has ended would leave the lock
// free, and nobody would hand it over.
void SharedTable::apply_once(const Request& request, std::uint32_t sink, Outcome& outcome) {
  change([&](EntryTable& entries) {
    const Clock::time_point now = clock_.now();
    entries.use_reserve(!makes_something(request.verb));
    if (request.latch || CountTable::serves(request.verb)) {
      apply_to_latch(entries, request, sink, outcome);
    } else if (request.revocations) {
      apply_to_revocations(entries, request, sink);
      outcome.kind = Kind::granted;
    } else if (request.verb == Verb::revoke) {
      revoke(entries, request, now, outcome);
    } else {
      const std::uint64_t hash = request.hash != 0 ? request.hash : hash_key(request.key);
      thin_.reclaim(hash);
      if (request.verb != Verb::acquire_all && apply_uncontended(entries, request, hash, now)) {
        outcome.kind = Kind::granted;
        return;
      }
      const bool is_lock = request.type != LockType::PERMIT;
      if (request.verb == Verb::force_release && is_lock &&
          end_thin_hold(entries, request.key, hash)) {
        outcome.kind = Kind::granted;
        return;
      }
      apply_to_locks(entries, request, sink, now, outcome);
    }
  });
}

bool SharedTable::apply_uncontended(EntryTable& entries, const Request& request, std::uint64_t hash,
                                    Clock::time_point now) {
  if (request.verb != Verb::acquire && request.verb != Verb::release) return false;
  close_bucket(entries, EntryTable::bucket_of(hash));
  if (request.verb == Verb::acquire) {
    const bool is_simple =
        !request.wants_token() && request.type != LockType::PERMIT && request.note.empty();
    if (!is_simple) return false;
    const EntryTable::Found found = entries.find(EntryKind::lock, request.key, hash);
    if (found.index != 0) return false;
    const Clock::time_point ends = later(now, request.lease);
    const SimpleRecord record = simple_record({.id = request.id,
                                               .type = request.type,
                                               .slot = static_cast<std::uint32_t>(session_.slot()),
                                               .ends = ticks(ends),
                                               .lock_delay = request.lock_delay.count()});
    const auto bytes = std::as_bytes(std::span(&record, 1)).first(simple_size);
    entries.insert(found, EntryKind::lock, request.key, hash, ticks(ends), bytes);
    return true;
  }
  const EntryTable::Found found = entries.find(EntryKind::lock, request.key, hash);
  if (found.index == 0 || !is_simple_hold(entries.value_in_one_cell(found.index), request, now)) {
    return false;
  }
  entries.erase(found);
  return true;
}

void SharedTable::apply_to_locks(EntryTable& entries, const Request& request, std::uint32_t sink,
                                 Clock::time_point now, Outcome& outcome) {
  sweep(entries, now);
  Subscriber& own = subscriber({static_cast<std::uint32_t>(session_.slot()), sink});
  if (request.verb == Verb::acquire_all) {
    brought_count_ = 0;
    for (const Member& member : request.members) {
      if (brought_count_ == brought_.size()) brought_.emplace_back();
      bring(entries, brought_[brought_count_], member.key, LockTable::hash_of(member));
      ++brought_count_;
    }
    with_numbers(entries, [&] { locks_.apply(request, 0, now, nullptr, outcome); });
    for (std::size_t index = 0; index < brought_count_; ++index) {
      write_back(entries, brought_[index], &request);
    }
    slots_.clear();
    if (outcome.kind == Kind::busy) {
      for (const Trace& each : brought_[outcome.busy_member].traces) slots_.push_back(each.slot);
    }
  } else {
    const std::uint64_t hash = hash_key(request.key);
    brought_count_ = 1;
    bring(entries, brought_[0], request.key, hash);
    with_numbers(entries, [&] { locks_.apply(request, hash, now, &own, outcome); });
    const LockRecord* const record = locks_.find(request.key, hash);
    const bool is_first = record != nullptr && outcome.place != 0 && !record->processes.empty() &&
                          record->processes.front().id == request.id;
    if (is_first) turn_ends_ = record->turn_ends;
    if (request.verb == Verb::inspect) {
      for (HolderInfo& holder : request.info->holders) {
        const auto its = std::ranges::find(brought_[0].traces, holder.id,
                                           [](const Trace& trace) { return trace.id.text(); });
        if (its != brought_[0].traces.end()) holder.announced = its->note;
      }
    }
    write_back(entries, brought_[0], &request);
    slots_.clear();
    if (outcome.kind == Kind::busy) {
      for (const Trace& each : brought_[0].traces) slots_.push_back(each.slot);
    }
  }
}

void SharedTable::end_turn(std::string_view key) {
  const std::uint64_t hash = hash_key(key);
  change([&](EntryTable& entries) {
    const Clock::time_point now = clock_.now();
    with_record(entries, key, hash, [&] {
      LockRecord* const record = locks_.find(key, hash);
      if (record == nullptr) return;
      with_numbers(entries, [&] { locks_.end_turn(*record, now); });
    });
  });
}

bool SharedTable::reap_holders() {
  std::ranges::sort(slots_);
  const auto repeated = std::ranges::unique(slots_);
  slots_.erase(repeated.begin(), repeated.end());
  bool any = false;
  for (const std::uint32_t slot : std::exchange(slots_, {})) {
    if (slot == session_.slot() || slot >= slot_count || !session_.is_dead(slot)) continue;
    reap(slot, session_.peers().known_name(slot));
    any = true;
  }
  return any;
}

// --- latches and revocations ---

void SharedTable::apply_to_latch(EntryTable& entries, const Request& request, std::uint32_t sink,
                                 Outcome& outcome) {
  const std::uint64_t hash = hash_key(request.key);
  const EntryTable::Found found = entries.find(EntryKind::latch, request.key, hash);
  if (found.index != 0) counts_.bring(request.key, read_subscribers(entries, found.index));
  counts_.apply(request, &subscriber({static_cast<std::uint32_t>(session_.slot()), sink}), outcome);
  write_subscribers(entries, EntryKind::latch, request.key, counts_.find(request.key));
}

void SharedTable::apply_to_revocations(EntryTable& entries, const Request& request,
                                       std::uint32_t sink) {
  const std::uint64_t hash = hash_key(request.key);
  const EntryTable::Found found = entries.find(EntryKind::revocation, request.key, hash);
  if (found.index != 0) {
    revocations_.bring(request.key, read_subscribers(entries, found.index).subscribers);
  }
  revocations_.change_subscription(request,
                                   subscriber({static_cast<std::uint32_t>(session_.slot()), sink}));
  CountTable::Latch left;
  const std::vector<Subscriber*>* const all = revocations_.find(request.key);
  if (all != nullptr) left.subscribers = *all;
  write_subscribers(entries, EntryKind::revocation, request.key, all == nullptr ? nullptr : &left);
}

void SharedTable::revoke(EntryTable& entries, const Request& request, Clock::time_point now,
                         Outcome& outcome) {
  outcome.kind = Kind::granted;
  const std::uint64_t hash = hash_key(request.key);
  const EntryTable::Found found = entries.find(EntryKind::revocation, request.key, hash);
  if (found.index == 0) return;
  revocations_.bring(request.key, read_subscribers(entries, found.index).subscribers);
  const std::size_t told = revocations_.notify(request.key);
  with_record(entries, request.key, hash,
              [&] { locks_.apply(request, hash, now, nullptr, outcome); });
  outcome.notified = told;
}

// --- notifications ---

SharedTable::SlotSubscriber& SharedTable::subscriber(SinkNumber number) {
  if (number.slot >= slot_count) throw Damaged("a subscription of a slot that does not exist");
  std::unique_ptr<SlotSubscriber>& its = subscribers_[number];
  if (its == nullptr) its = std::make_unique<SlotSubscriber>(*this, number);
  return *its;
}

// A failure here ends the whole change, once the rules have run.
void SharedTable::post(SinkNumber to, const Notification& notification) noexcept {
  try {
    if (to.slot == session_.slot()) {
      notes_.push_back({to.sink, notification.kind, std::string(notification.key), notification.id,
                        notification.place, notification.token});
      return;
    }
    ByteWriter writer(value_);
    writer.put(to.sink);
    writer.put(static_cast<std::uint32_t>(notification.kind));
    writer.put(notification.id);
    writer.put(notification.place);
    writer.put(notification.token);
    writer.put(notification.key);
    entries_->append_note(session_.slot_at(to.slot), value_);
    session_.wake_later(to.slot);
  } catch (...) {
    failure_ = std::current_exception();
  }
}

bool SharedTable::drain() {
  Slot& own = session_.own_slot();
  bool any = false;
  while (own.inbox_first.load(std::memory_order_acquire) != 0 ||
         own.missed.load(std::memory_order_relaxed) != 0) {
    any = true;
    change([&](EntryTable& entries) {
      entries.take_notes(own, 128, [&](std::span<const std::byte> bytes) {
        ByteReader reader(bytes);
        Note& note = notes_.emplace_back();
        note.sink = reader.get<std::uint32_t>();
        const auto kind = reader.get<std::uint32_t>();
        if (kind > static_cast<std::uint32_t>(Notification::Kind::abandoned)) {
          throw Damaged("a notification of an unknown kind");
        }
        note.kind = static_cast<Notification::Kind>(kind);
        note.id = reader.get<HoldId>();
        note.place = reader.get<std::uint64_t>();
        note.token = reader.get<std::uint64_t>();
        note.key = reader.text();
      });
      if (own.missed.load() == 0) return;
      entries.put(own.missed, 0);
      missed_ = true;
    });
  }
  return any;
}

void SharedTable::notify_listener() {
  for (const Note& note : std::exchange(notes_, {})) {
    Notification notification;
    notification.kind = note.kind;
    notification.key = note.key;
    notification.id = note.id;
    notification.place = note.place;
    notification.token = note.token;
    listener_.notified(note.sink, notification);
  }
  for (const Abandoned& each : std::exchange(abandoned_, {})) {
    listener_.abandoned(each.key, each.type, each.pid);
  }
  if (std::exchange(missed_, false)) listener_.missed();
}

}  // namespace latchkey::inline v1::detail::host
