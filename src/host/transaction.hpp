// Changes of a segment that are made together or not at all.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/segment_format.hpp"
#include "host/store_observer.hpp"

namespace latchkey::inline v1::detail::host {

/// An undo journal in the segment itself. Before a word is changed, its old value is written to the
/// journal; one store, of the journal's length, decides that all changes are made. If the process
/// dies before, or an exception ends the change, the old values come back (`undo`). Cells that were
/// free before the change are no part of it: nobody reads them until a word leads there.
///
/// With the segment's lock held. A kill stops the stores of a process at some instruction, and
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
    if (length_ == journal_room) throw Unusable("one request changes too much of the segment");
    JournalEntry& entry = segment_.journal[length_];
    store(entry.offset, offset_of(word));
    store(entry.value, word.load(std::memory_order_relaxed));
    store(segment_.header.journal_length, ++length_);
    store(word, value);
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
      const std::uint64_t offset = entry.offset.load(std::memory_order_relaxed);
      if (offset % sizeof(Word) != 0 || offset > size - sizeof(Word)) return false;
      store(*reinterpret_cast<Word*>(reinterpret_cast<std::byte*>(&segment) + offset),
            entry.value.load(std::memory_order_relaxed));
    }
    store(segment.header.journal_length, 0);
    return true;
  }

 private:
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
