// The part that a process takes in a segment.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/entry_table.hpp"
#include "host/peers.hpp"
#include "host/segment/segment_file.hpp"
#include "host/segment/segment_lock.hpp"

namespace latchkey::inline v1::detail::host {

/// A slot in a segment, and the changes that are made from it. One thread at a time.
class Session {
 public:
  /// Whether a Session may take the slot of a dead process, and then has to reap it.
  enum class Inheritance : std::uint8_t { accepted, refused };

  /// Takes a slot. Throws what SegmentFile::open throws, and Unusable.
  explicit Session(SegmentPlace place, Inheritance inheritance = Inheritance::accepted);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  [[nodiscard]] const SegmentPlace& place() const noexcept { return place_; }
  [[nodiscard]] std::size_t slot() const noexcept { return slot_; }
  [[nodiscard]] Layout& layout() const noexcept { return file_.layout(); }
  [[nodiscard]] Slot& slot_at(std::size_t index) const noexcept { return layout().slots[index]; }
  [[nodiscard]] std::uint64_t name_of(std::size_t index) const noexcept {
    return slot_at(index).name.load(std::memory_order_acquire);
  }
  [[nodiscard]] Slot& own_slot() const noexcept { return slot_at(slot_); }
  [[nodiscard]] const OwnFifos& fifos() const noexcept { return fifos_; }
  [[nodiscard]] Peers& peers() noexcept { return peers_; }
  /// The slot was that of a dead process: what belongs to it there is not this process's.
  [[nodiscard]] bool inherits() const noexcept { return inherits_; }
  void has_settled_inheritance() noexcept { inherits_ = false; }

  /// Whether the process in this slot, which is not this one, is dead.
  [[nodiscard]] bool is_dead(std::size_t slot);

  /// Calls `act(EntryTable&)` with the segment's lock, and makes its changes, or none if it throws.
  /// Throws Replaced if the segment is no longer the one, Damaged if it contradicts itself, and
  /// Unusable.
  template <class Act>
  void change(Act&& act) {
    {
      require_ready();
      const SegmentLock lock(layout().header.lock, slot_, is_dead_);
      begin();
      EntryTable entries(layout(), grow_);
      try {
        act(entries);
        require_whole();
        entries.commit();
      } catch (const Damaged&) {
        mark_damaged();
        require_whole();
        throw;
      } catch (const Unusable&) {
        require_whole();
        throw;
      }
    }
    if (!woken_.empty()) wake();
  }
  /// After the change under way: wakes the process, if it sleeps.
  void wake_later(std::size_t slot) { woken_.push_back(slot); }

  /// The segment was replaced: takes a slot in the one that has its place.
  void rejoin();
  /// In a forked child: nothing of the parent's is used any more, and nothing of it changed.
  void abandon() noexcept;
  [[nodiscard]] bool has_slot() const noexcept { return name_ != 0; }
  /// Frees the slot, from which nothing is left in the segment.
  void leave() noexcept;
  [[nodiscard]] bool is_in_place() const noexcept { return file_.is_in_place(place_); }
  /// Makes every process look for the segment that has the place of this one.
  void mark_replaced() noexcept;

 private:
  void join();
  void take_slot(std::uint64_t name);
  void require_whole() const;
  void require_ready() const;
  void begin();
  void mark_damaged() noexcept;
  void wake() noexcept;

  const SegmentPlace place_;
  const Inheritance inheritance_;
  SegmentFile file_;
  Peers peers_;
  OwnFifos fifos_;
  std::size_t slot_ = 0;
  std::uint64_t name_ = 0;  ///< 0: no slot is taken
  bool inherits_ = false;
  std::vector<std::size_t> woken_;
  Grow grow_;
  SegmentLock::IsDead is_dead_;
};

}  // namespace latchkey::inline v1::detail::host
