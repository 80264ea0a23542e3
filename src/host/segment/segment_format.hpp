// The format of a segment: what the processes of a machine share.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <latchkey/hold_id.hpp>

namespace latchkey::inline v1::detail::host {

/// A change of anything below, or of the encoding of records, is another version: a process of one
/// version refuses the segment of another.
inline constexpr std::uint32_t format_version = 2;
inline constexpr std::uint64_t format_magic = 0x79656b686374616c;  // "latchkey"

/// A word of the segment that is changed by one store.
using Word = std::atomic<std::uint64_t>;
using HalfWord = std::atomic<std::uint32_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 8, "shared between processes");
static_assert(HalfWord::is_always_lock_free && sizeof(HalfWord) == 4, "a futex");

/// The state of a segment, which its processes read before each request.
enum class State : std::uint64_t {
  ready = 1,
  replaced = 2,  ///< another file has taken its place: by a repair, or after a reboot
  damaged = 3,   ///< something in it contradicts itself: it waits for a repair
};

/// One process that uses the segment, or one of its Locks. Its FIFO has `name` in its file name,
/// and is open for reading as long as the process lives: a writer that the kernel refuses with
/// ENXIO knows that it is dead, whatever its pid is in whatever namespace, and one that polls
/// learns it at once.
struct Slot {
  Word name;  ///< random; 0: the slot is free. One store takes a slot, and one store frees it
  Word pid;
  Word inbox_first, inbox_last, inbox_size;  ///< notifications for it: cells
  Word missed;                               ///< 1: notifications were dropped
  HalfWord sleeps;                           ///< 1: its FIFO is to be written to
  HalfWord unused;
  Word thin_cells;  ///< the first of its cells for thin holds
};
static_assert(sizeof(Slot) == 64, "one cache line");

inline constexpr std::size_t slot_count = 512;
inline constexpr std::size_t bucket_count = std::size_t{1} << 14;
inline constexpr std::size_t journal_room = std::size_t{1} << 14;
inline constexpr std::size_t cell_size = 256;
/// So many cells are kept for requests that make nothing new: in a segment that is full, holds are
/// renewed, examined and released.
inline constexpr std::size_t reserved_cells = 64;

/// The old value of a word that is being changed.
struct JournalEntry {
  Word offset;
  Word value;
};

struct Header {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t cell_bytes;
  Word state;
  Word size;                          ///< how much of the file is in use, in bytes; it grows
  Word most_size;                     ///< how large it may grow
  std::array<std::uint64_t, 2> boot;  ///< the boot id of the system: no process outlives it
  std::uint64_t time_namespace;       ///< its CLOCK_BOOTTIME is that of the leases; 0: unknown
  HalfWord lock;                      ///< SegmentLock
  HalfWord unused;
  Word journal_length;  ///< 0: no change is under way
  Word free_cell;       ///< the first of the list of free cells; 0: none
  Word free_cells;      ///< how many these are
  Word fresh_cell;      ///< this cell and those after it have never been used
  Word entries;
  Word members;  ///< changes whenever a slot is taken or freed
  Word last_token, last_place;
};

/// Everything before the cells, at fixed places. Cell 0 does not exist.
struct Layout {
  alignas(4096) Header header;
  alignas(4096) std::array<Slot, slot_count> slots;
  std::array<JournalEntry, journal_room> journal;
  std::array<Word, bucket_count> buckets;  ///< the first cell of the first entry
  std::array<Word, bucket_count> thin;     ///< by bucket: ThinWord
};
inline constexpr std::size_t first_size = sizeof(Layout) + std::size_t{512} * cell_size;
static_assert(sizeof(Layout) % 4096 == 0, "cells begin at a page");

/// The subject of an entry. Entries of different kinds may have the same key.
enum class EntryKind : std::uint32_t { lock = 1, latch = 2, revocation = 3, note = 4 };

/// A cell begins with the cell that continues it, or with the next free one; 0: none.
struct Cell {
  Word next;
  std::array<std::byte, cell_size - 8> bytes;
};
static_assert(sizeof(Cell) == cell_size, "cells lie side by side");

/// The first cell of an entry has this after `next`. Key and value follow.
struct EntryHead {
  std::uint64_t next_entry;  ///< of its bucket, or of an inbox: changed as a Word
  std::uint64_t hash;
  std::int64_t first_end;  ///< nothing in it ends before; the clock's ticks
  std::uint32_t kind;
  std::uint32_t key_size;
  std::uint32_t value_size;
  std::uint32_t unused;
};
static_assert(sizeof(EntryHead) == 40, "part of the format");

/// A hold that nobody contends for, in a cell of its process. It is written before a thin word
/// leads there, and stays the same as long as one does.
struct ThinHold {
  HoldId id;
  std::int64_t ends;
  std::int64_t lock_delay;  ///< ms
  std::uint64_t hash;
  std::uint32_t type;
  std::uint32_t key_size;
  std::array<char, sizeof(Cell::bytes) - sizeof(HoldId) - 32> key;
};
static_assert(sizeof(ThinHold) == sizeof(Cell::bytes), "a cell has one");

/// The locks of one bucket, in a word that processes change by compare-and-swap without the lock of
/// the segment:
///
/// | word              | holds                    | entries of locks                             |
/// |-------------------|--------------------------|----------------------------------------------|
/// | 0                 | none                     | none                                         |
/// | `held`            | the one in its cell      | none                                         |
/// | `awaited`         | none                     | one, which has waiters and lets others first |
/// | `held`, `awaited` | the one in its cell      | the same                                     |
/// | `in_table`        | those of the entries     | any number                                   |
///
/// A process that finds 0 or `awaited` may take any lock of the bucket by one store, and gives it
/// back by another. For all else the word first becomes `in_table`, with the lock of the segment,
/// and the hold in the cell becomes one of an entry. While the word is `in_table`, only a process
/// that has the lock of the segment changes it.
struct ThinWord {
  static constexpr std::uint64_t awaited = 1, in_table = 2, held = 4;

  [[nodiscard]] static constexpr std::uint64_t of(std::uint64_t cell, std::size_t slot) noexcept {
    return cell << 16 | slot << 4 | held;
  }
  [[nodiscard]] static constexpr bool is_held(std::uint64_t word) noexcept {
    return (word & held) != 0;
  }
  [[nodiscard]] static constexpr bool is_free(std::uint64_t word) noexcept {
    return (word & ~awaited) == 0;
  }
  [[nodiscard]] static constexpr std::uint64_t cell_of(std::uint64_t word) noexcept {
    return word >> 16;
  }
  [[nodiscard]] static constexpr std::size_t slot_of(std::uint64_t word) noexcept {
    return (word >> 4) % 4096;
  }
};
static_assert(slot_count <= 4096, "a thin word has 12 bits for the slot");

/// The way out of damage, as a clause.
inline constexpr const char* repair_hint = "run latchkey host repair, with this URI";

/// The segment contradicts itself, or what it must have: it waits for a repair.
class Damaged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The segment cannot serve a request now; the text says why. Nothing was changed.
class Unusable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Another file has taken the place of the segment.
class Replaced : public std::exception {};

}  // namespace latchkey::inline v1::detail::host
