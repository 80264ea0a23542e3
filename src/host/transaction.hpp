// Changes of a segment that are made together or not at all.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/segment/segment_format.hpp"
#include "host/store_observer.hpp"

namespace latchkey::inline v1::detail::host {

/// An undo journal in the segment itself. Before a word is changed, its old value is written to the
/// journal; one store, of the journal's length, decides that all changes are made. If the process
/// dies before, or an exception ends the change, the old values come back (`undo`). Cells that were
/// free before the change are no part of it: nobody reads them until a word leads there.
///
/// With the segment's lock held. Others change thin words without it, so a change only ever closes
/// one, and an undo opens it again. A kill stops the stores of a process at some instruction, and
/// another process that takes the lock afterwards sees all that were made before: the order of the
/// stores matters, and nothing else.
class Transaction {
 public:
  explicit Transaction(Layout& segment) noexcept : segment_(segment) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (length_ != 0) undo(segment_);
  }

  /// Throws Unusable if the journal is full.
  void put(Word& word, std::uint64_t value) {
    note(offset_of(word), word.load(std::memory_order_relaxed));
    store(word, value);
  }

  /// A thin word that is `seen` becomes `in_table`. False: it has changed. Throws as `put` does.
  bool close(Word& thin, std::uint64_t seen) {
    note(offset_of(thin) | of_thin_word, seen);
    about_to_store();
    if (thin.compare_exchange_strong(seen, ThinWord::in_table, std::memory_order_acq_rel)) {
      return true;
    }
    store(segment_.header.journal_length, --length_);
    return false;
  }

  /// How many more words can be changed.
  [[nodiscard]] std::size_t room() const noexcept { return journal_room - length_; }

  void commit() noexcept {
    if (length_ == 0) return;
    store(segment_.header.journal_length, 0);
    length_ = 0;
  }

  /// Brings back the old values of a change that has not been committed. It may itself be ended at
  /// any store, and begun again. Returns false if the journal makes no sense.
  static bool undo(Layout& segment) noexcept {
    std::uint64_t length = segment.header.journal_length.load(std::memory_order_acquire);
    if (length > journal_room) return false;
    const std::uint64_t size = segment.header.size.load(std::memory_order_relaxed);
    while (length > 0) {
      const JournalEntry& entry = segment.journal[--length];
      const std::uint64_t noted = entry.offset.load(std::memory_order_relaxed);
      const std::uint64_t offset = noted & ~of_thin_word;
      if (offset % sizeof(Word) != 0 || offset > size - sizeof(Word)) return false;
      Word& word = *reinterpret_cast<Word*>(reinterpret_cast<std::byte*>(&segment) + offset);
      const std::uint64_t before = entry.value.load(std::memory_order_relaxed);
      if (noted == offset) {
        store(word, before);
      } else {
        reopen(word, before);
      }
    }
    store(segment.header.journal_length, 0);
    return true;
  }

 private:
  /// In the offset of a journal entry: its word is a thin one.
  static constexpr std::uint64_t of_thin_word = 1;

  void note(std::uint64_t offset, std::uint64_t value) {
    if (length_ == journal_room) throw Unusable("one request changes too much of the segment");
    JournalEntry& entry = segment_.journal[length_];
    store(entry.offset, offset);
    store(entry.value, value);
    store(segment_.header.journal_length, ++length_);
  }
  // Others change the word unless it is `in_table`: then it was not closed, or is open again.
  static void reopen(Word& thin, std::uint64_t before) noexcept {
    about_to_store();
    std::uint64_t closed = ThinWord::in_table;
    thin.compare_exchange_strong(closed, before, std::memory_order_acq_rel);
  }
  static void store(Word& word, std::uint64_t value) noexcept {
    about_to_store();
    word.store(value, std::memory_order_release);
  }
  [[nodiscard]] std::uint64_t offset_of(const Word& word) const noexcept {
    return static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(&word) -
                                      reinterpret_cast<const std::byte*>(&segment_));
  }

  Layout& segment_;
  std::uint64_t length_ = 0;
};

}  // namespace latchkey::inline v1::detail::host
