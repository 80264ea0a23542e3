// The part that a process takes in a segment.
// SPDX-License-Identifier: BSL-1.0
#include "host/session.hpp"

#include <unistd.h>

#include <latchkey/hold_id.hpp>

namespace latchkey::inline v1::detail::host {

Session::Session(SegmentPlace place, Inheritance inheritance)
    : place_(std::move(place)),
      inheritance_(inheritance),
      file_(SegmentFile::open(place_)),
      peers_(place_.path),
      grow_([this](std::uint64_t least) { file_.grow(least); }),
      is_dead_([this](std::size_t slot) { return is_dead(slot); }) {
  join();
}

Session::~Session() { leave(); }

bool Session::is_dead(std::size_t slot) {
  if (slot >= slot_count) return false;
  // The process that had this slot before may have died with the lock.
  if (slot == slot_) return inherits_;
  const std::uint64_t name = name_of(slot);
  return name != 0 && peers_.is_dead(slot, name);
}

void Session::join() {
  const std::uint64_t name = HoldId::new_space()[1] | 1;
  const FifoPaths paths(place_.path, name);
  fifos_ = OwnFifos::make(paths, place_.mode(), place_.shared_with());
  try {
    take_slot(name);
    own_slot().pid = static_cast<std::uint64_t>(::getpid());
    own_slot().sleeps = 0;
    change([&](EntryTable& entries) {
      // Those who sleep watch this process from now on.
      entries.put(layout().header.members, layout().header.members.load() + 1);
      for (std::size_t slot = 0; slot < slot_count; ++slot) {
        if (slot != slot_ && name_of(slot) != 0) wake_later(slot);
      }
    });
  } catch (...) {
    // With a slot, this process is one that has died: somebody else reaps it.
    if (!has_slot()) paths.remove();
    abandon();
    throw;
  }
}

// Free slots first, then those of processes whose death nobody has seen.
void Session::take_slot(std::uint64_t name) {
  for (const bool of_dead : {false, true}) {
    if (of_dead && inheritance_ == Inheritance::refused) break;
    for (std::size_t slot = 0; slot < slot_count; ++slot) {
      std::uint64_t before = name_of(slot);
      if (of_dead ? before == 0 || !peers_.is_dead(slot, before) : before != 0) continue;
      if (!slot_at(slot).name.compare_exchange_strong(before, name)) continue;
      if (of_dead) FifoPaths(place_.path, before).remove();
      slot_ = slot;
      name_ = name;
      inherits_ = of_dead;
      return;
    }
  }
  throw Unusable("its " + std::to_string(slot_count) +
                 " slots are taken: fewer processes, or Locks, "
                 "can use one segment");
}

void Session::begin() {
  const Header& header = layout().header;
  if (header.journal_length.load(std::memory_order_relaxed) != 0 && !Transaction::undo(layout())) {
    mark_damaged();
  }
  // Before the state: the read of a page that is lost makes the state `damaged`.
  const bool has_own_slot = name_of(slot_) == name_;
  require_ready();
  if (!has_own_slot) throw Replaced();
}

// Whatever else a change has met is a consequence.
void Session::require_whole() const {
  if (file_.was_truncated()) throw Damaged("its file was truncated while it was in use");
}

// Also before the lock is taken: the one who had it when the file was truncated never frees it.
void Session::require_ready() const {
  const auto state = static_cast<State>(layout().header.state.load(std::memory_order_relaxed));
  if (state == State::ready) [[likely]]
    return;
  if (state != State::damaged) throw Replaced();
  require_whole();
  throw Damaged("a process has found it damaged");
}

void Session::mark_damaged() noexcept {
  layout().header.state = static_cast<std::uint64_t>(State::damaged);
}

void Session::mark_replaced() noexcept {
  layout().header.state = static_cast<std::uint64_t>(State::replaced);
}

// A sleeper says that it sleeps, and then looks: one of the two sees the other.
void Session::wake() noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (const std::size_t slot : woken_) {
    if (slot_at(slot).sleeps.exchange(0) != 0) peers_.wake(slot, name_of(slot));
  }
  woken_.clear();
}

void Session::leave() noexcept {
  if (inherits_) return abandon();  // what the dead process has left is there still
  if (!has_slot()) return;
  try {
    FifoPaths(place_.path, name_).remove();
    change([&](EntryTable& entries) {
      entries.put(own_slot().name, 0);
      entries.put(layout().header.members, layout().header.members.load() + 1);
    });
  } catch (...) {
    // Nobody can read the segment, or it is another one: a slot without a process is free.
  }
  abandon();
}

void Session::rejoin() {
  if (has_slot()) FifoPaths(place_.path, name_).remove();
  abandon();
  file_ = SegmentFile::open(place_);
  join();
}

void Session::abandon() noexcept {
  fifos_ = {};
  name_ = 0;
  slot_ = 0;
  inherits_ = false;
  woken_.clear();
  for (std::size_t slot = 0; slot < slot_count; ++slot) peers_.forget(slot);
}

}  // namespace latchkey::inline v1::detail::host
