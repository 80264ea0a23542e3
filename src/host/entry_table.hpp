// Entries of a segment, found by their keys.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/collections/small_vector.hpp"
#include "host/segment/segment_format.hpp"
#include "host/transaction.hpp"

namespace latchkey::inline v1::detail::host {

/// Makes the segment larger, to at least so many bytes; throws Unusable. Calls set Header::size.
using Grow = std::function<void(std::uint64_t least)>;

/// Reads and changes the entries of a segment within one Transaction, with the segment's lock held.
/// An entry is a chain of cells. A changed entry is written to free cells, and then one word leads
/// there; its old cells become free at the end of the change. All members throw Damaged if what
/// they read makes no sense; those that write throw Unusable if the segment is full.
class EntryTable {
 public:
  /// The index of an entry's first cell; 0: there is none.
  using Index = std::uint64_t;

  struct Found {
    Index index = 0;
    Word* link = nullptr;  ///< leads to it, or, if there is none, becomes the link of a new one
  };

  EntryTable(Layout& segment, const Grow& grow)
      : segment_(segment), grow_(grow), change_(segment) {}
  EntryTable(const EntryTable&) = delete;
  EntryTable& operator=(const EntryTable&) = delete;
  ~EntryTable() = default;

  [[nodiscard]] Found find(EntryKind kind, std::string_view key, std::uint64_t hash);
  [[nodiscard]] const EntryHead& head(Index index) const;
  [[nodiscard]] std::string key(Index index) const;
  /// The bytes after the key.
  void read(Index index, std::vector<std::byte>& value) const;
  /// The value, where it lies; empty if one cell does not hold it.
  [[nodiscard]] std::span<const std::byte> value_in_one_cell(Index index) const;

  void insert(const Found& where, EntryKind kind, std::string_view key, std::uint64_t hash,
              std::int64_t first_end, std::span<const std::byte> value);
  void replace(const Found& found, std::int64_t first_end, std::span<const std::byte> value);
  void erase(const Found& found);

  /// Calls `visit(index)` for the entries of one bucket; `visit` changes nothing.
  template <class Visit>
  void for_bucket(std::size_t bucket, Visit&& visit) const {
    std::uint64_t seen = 0;
    for (Index at = load(segment_.buckets[bucket]); at != 0; at = head(at).next_entry) {
      count(++seen);
      visit(at);
    }
  }

  // --- thin words ---
  [[nodiscard]] static std::size_t bucket_of(std::uint64_t hash) noexcept {
    return hash % bucket_count;
  }
  [[nodiscard]] std::uint64_t thin_word(std::size_t bucket) const noexcept {
    return segment_.thin[bucket].load(std::memory_order_acquire);
  }
  /// The thin word of the bucket becomes `in_table`; returns what it was.
  std::uint64_t close(std::size_t bucket);
  /// Opens a bucket, which others use from then on: one that was closed, after the `commit`, or one
  /// that a dead process holds.
  void open(std::size_t bucket, std::uint64_t word) noexcept;
  /// The hold of a word that was closed, or that is the caller's own.
  [[nodiscard]] const ThinHold& thin_hold(std::uint64_t word) const;
  /// Gives a slot so many cells for thin holds, or takes all of them back.
  void make_thin_cells(Slot& slot, std::size_t count);
  void free_thin_cells(Slot& slot);

  /// Appends a chain to the inbox of a slot. False: there is no room, and the slot knows it.
  bool append_note(Slot& slot, std::span<const std::byte> value);
  /// Takes the notes of a slot, at most `most` of them. Calls `visit(span)` for each.
  template <class Visit>
  void take_notes(Slot& slot, std::size_t most, Visit&& visit);

  /// Whether this change may use the reserved cells; it may at first. Returns what was set before.
  bool use_reserve(bool yes) noexcept { return std::exchange(uses_reserve_, yes); }

  void put(Word& word, std::uint64_t value) { change_.put(word, value); }
  [[nodiscard]] std::size_t room() const noexcept { return change_.room(); }
  /// Frees what is no longer used, and makes all changes at once.
  void commit();

 private:
  struct Chain {
    Index first = 0, last = 0;
  };

  [[nodiscard]] static std::uint64_t load(const Word& word) noexcept {
    return word.load(std::memory_order_relaxed);
  }
  [[nodiscard]] Cell& cell(Index index) const {
    if (index == 0 || index >= load(segment_.header.fresh_cell)) bad("a cell that does not exist");
    return cells()[index - 1];
  }
  [[nodiscard]] Cell* cells() const noexcept { return reinterpret_cast<Cell*>(&segment_ + 1); }
  [[nodiscard]] std::uint64_t cell_room() const noexcept {
    return (load(segment_.header.size) - sizeof(Layout)) / cell_size;
  }
  void count(std::uint64_t seen) const {
    if (seen > cell_room()) bad("a list without an end");
  }
  [[noreturn]] static void bad(const char* what);

  [[nodiscard]] Word& next_entry(Index index) const;
  [[nodiscard]] bool has_key(Index index, std::string_view key) const;
  void copy_out(Index index, std::size_t from, std::span<std::byte> to) const;
  Index take_cell();
  /// Writes head, key and value to cells that were free.
  Chain write(const EntryHead& head, std::string_view key, std::span<const std::byte> value);
  void free_later(Index first);
  void free_chain(Index first);

  Layout& segment_;
  const Grow& grow_;
  Transaction change_;
  bool uses_reserve_ = true;
  SmallVector<Index, 16> unused_;  ///< the first cells of chains that become free
};

template <class Visit>
void EntryTable::take_notes(Slot& slot, std::size_t most, Visit&& visit) {
  std::vector<std::byte> value;
  Index at = load(slot.inbox_first);
  std::uint64_t taken = 0;
  for (; at != 0 && taken < most; ++taken) {
    read(at, value);
    visit(std::span<const std::byte>(value));
    free_later(at);
    at = head(at).next_entry;
  }
  put(slot.inbox_first, at);
  if (at == 0) put(slot.inbox_last, 0);
  const std::uint64_t size = load(slot.inbox_size);
  put(slot.inbox_size, at == 0 ? 0 : size - std::min(size, taken));
}

}  // namespace latchkey::inline v1::detail::host
