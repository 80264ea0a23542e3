// Entries of a segment, found by their keys.
// SPDX-License-Identifier: BSL-1.0
#include "host/entry_table.hpp"

#include <algorithm>
#include <cstring>

namespace latchkey::inline v1::detail::host {
namespace {

constexpr std::size_t head_room = sizeof(Cell::bytes) - sizeof(EntryHead);
/// A slot that does not empty its inbox loses what comes after so many notes.
constexpr std::uint64_t most_notes = 1024;
/// Words that the rest of a request may change after its notes.
constexpr std::size_t reserved_room = 64;

}  // namespace

void EntryTable::bad(const char* what) { throw Damaged(what); }

const EntryHead& EntryTable::head(Index index) const {
  return *reinterpret_cast<const EntryHead*>(cell(index).bytes.data());
}

Word& EntryTable::next_entry(Index index) const {
  return *reinterpret_cast<Word*>(cell(index).bytes.data());
}

// Compares without a copy if the key lies in the first cell.
bool EntryTable::has_key(Index index, std::string_view key) const {
  if (key.size() <= head_room) {
    const std::byte* const bytes = cell(index).bytes.data() + sizeof(EntryHead);
    return std::memcmp(bytes, key.data(), key.size()) == 0;
  }
  return this->key(index) == key;
}

EntryTable::Found EntryTable::find(EntryKind kind, std::string_view key, std::uint64_t hash) {
  Word* link = &segment_.buckets[hash % bucket_count];
  std::uint64_t seen = 0;
  for (Index at = load(*link); at != 0; at = load(*link)) {
    count(++seen);
    const EntryHead& its = head(at);
    if (its.hash == hash && its.kind == static_cast<std::uint32_t>(kind) &&
        its.key_size == key.size() && has_key(at, key)) {
      return {at, link};
    }
    link = &next_entry(at);
  }
  return {0, &segment_.buckets[hash % bucket_count]};
}

void EntryTable::copy_out(Index index, std::size_t from, std::span<std::byte> to) const {
  std::size_t offset = sizeof(EntryHead) + from;
  std::size_t done = 0;
  while (done < to.size()) {
    const Cell& its = cell(index);
    if (offset < its.bytes.size()) {
      const std::size_t size = std::min(its.bytes.size() - offset, to.size() - done);
      std::memcpy(to.data() + done, its.bytes.data() + offset, size);
      done += size;
      offset += size;
    }
    offset -= its.bytes.size();
    if (done < to.size()) index = load(its.next);
  }
}

std::string EntryTable::key(Index index) const {
  const std::uint32_t size = head(index).key_size;
  if (size > 2048) bad("a key of more than 2 KiB");
  std::string text(size, '\0');
  copy_out(index, 0, std::as_writable_bytes(std::span(text)));
  return text;
}

void EntryTable::read(Index index, std::vector<std::byte>& value) const {
  const EntryHead& its = head(index);
  if (its.value_size > cell_room() * cell_size) bad("a value longer than the segment");
  value.resize(its.value_size);
  copy_out(index, its.key_size, value);
}

std::span<const std::byte> EntryTable::value_in_one_cell(Index index) const {
  const EntryHead& its = head(index);
  if (std::size_t{its.key_size} + its.value_size > head_room) return {};
  return std::span(cell(index).bytes).subspan(sizeof(EntryHead) + its.key_size, its.value_size);
}

EntryTable::Index EntryTable::take_cell() {
  Header& header = segment_.header;
  const Index fresh = load(header.fresh_cell);
  const std::uint64_t free = load(header.free_cells);
  const std::uint64_t kept = uses_reserve_ ? 0 : reserved_cells;
  if (free + cell_room() + 1 <= fresh + kept) {
    grow_(sizeof(Layout) + (fresh + kept - free) * cell_size);
  }
  if (const Index first = load(header.free_cell); first != 0) {
    put(header.free_cell, load(cell(first).next));
    put(header.free_cells, free - 1);
    return first;
  }
  put(header.fresh_cell, fresh + 1);
  return fresh;
}

// The cells are free: what they contain is read by nobody until a word leads there, so only their
// place in the list of free cells, which an undo needs, is in the journal.
EntryTable::Chain EntryTable::write(const EntryHead& head, std::string_view key,
                                    std::span<const std::byte> value) {
  const std::size_t size = sizeof(EntryHead) + key.size() + value.size();
  const std::size_t count =
      std::max<std::size_t>(1, (size + sizeof(Cell::bytes) - 1) / sizeof(Cell::bytes));
  Chain chain;
  std::size_t written = 0;
  const auto copy = [&](Cell& to, std::span<const std::byte> part, std::size_t part_begins) {
    // The bytes of `part` that belong to the cell whose first byte is number `written`.
    const std::size_t begin = std::max(written, part_begins);
    const std::size_t end = std::min(written + to.bytes.size(), part_begins + part.size());
    if (begin >= end) return;
    about_to_store();
    std::memcpy(to.bytes.data() + (begin - written), part.data() + (begin - part_begins),
                end - begin);
  };
  for (std::size_t made = 0; made < count; ++made) {
    const Index index = take_cell();
    Cell& to = cell(index);
    copy(to, std::as_bytes(std::span(&head, 1)), 0);
    copy(to, std::as_bytes(std::span(key)), sizeof(EntryHead));
    copy(to, value, sizeof(EntryHead) + key.size());
    written += to.bytes.size();
    if (chain.first == 0) {
      chain.first = index;
    } else {
      put(cell(chain.last).next, index);
    }
    chain.last = index;
  }
  put(cell(chain.last).next, 0);
  return chain;
}

void EntryTable::insert(const Found& where, EntryKind kind, std::string_view key,
                        std::uint64_t hash, std::int64_t first_end,
                        std::span<const std::byte> value) {
  const EntryHead made{.next_entry = load(*where.link),
                       .hash = hash,
                       .first_end = first_end,
                       .kind = static_cast<std::uint32_t>(kind),
                       .key_size = static_cast<std::uint32_t>(key.size()),
                       .value_size = static_cast<std::uint32_t>(value.size()),
                       .unused = 0};
  const Chain chain = write(made, key, value);
  put(*where.link, chain.first);
  put(segment_.header.entries, load(segment_.header.entries) + 1);
}

void EntryTable::replace(const Found& found, std::int64_t first_end,
                         std::span<const std::byte> value) {
  EntryHead made = head(found.index);
  made.first_end = first_end;
  made.value_size = static_cast<std::uint32_t>(value.size());
  const Chain chain = write(made, key(found.index), value);
  put(*found.link, chain.first);
  free_later(found.index);
}

void EntryTable::erase(const Found& found) {
  put(*found.link, head(found.index).next_entry);
  put(segment_.header.entries, load(segment_.header.entries) - 1);
  free_later(found.index);
}

// --- thin words ---

std::uint64_t EntryTable::close(std::size_t bucket) {
  Word& word = segment_.thin[bucket];
  while (true) {
    const std::uint64_t seen = word.load(std::memory_order_acquire);
    if (seen == ThinWord::in_table || change_.close(word, seen)) return seen;
  }
}

void EntryTable::open(std::size_t bucket, std::uint64_t word) noexcept {
  about_to_store();
  segment_.thin[bucket].store(word, std::memory_order_release);
}

const ThinHold& EntryTable::thin_hold(std::uint64_t word) const {
  const auto& hold = *reinterpret_cast<const ThinHold*>(cell(ThinWord::cell_of(word)).bytes.data());
  if (ThinWord::slot_of(word) >= slot_count || hold.key_size > hold.key.size()) {
    bad("a thin hold that makes no sense");
  }
  return hold;
}

void EntryTable::make_thin_cells(Slot& slot, std::size_t count) {
  Index first = 0;
  for (; count > 0; --count) {
    const Index made = take_cell();
    put(cell(made).next, first);
    first = made;
  }
  put(slot.thin_cells, first);
}

void EntryTable::free_thin_cells(Slot& slot) {
  const Index first = load(slot.thin_cells);
  if (first == 0) return;
  put(slot.thin_cells, 0);
  free_later(first);
}

bool EntryTable::append_note(Slot& slot, std::span<const std::byte> value) {
  if (load(slot.missed) != 0) return false;
  const std::size_t cells = (sizeof(EntryHead) + value.size()) / sizeof(Cell::bytes) + 1;
  if (load(slot.inbox_size) >= most_notes || room() < reserved_room + 2 * cells + unused_.size()) {
    put(slot.missed, 1);
    return false;
  }
  const EntryHead made{.next_entry = 0,
                       .hash = 0,
                       .first_end = 0,
                       .kind = static_cast<std::uint32_t>(EntryKind::note),
                       .key_size = 0,
                       .value_size = static_cast<std::uint32_t>(value.size()),
                       .unused = 0};
  const Chain chain = write(made, {}, value);
  const Index last = load(slot.inbox_last);
  put(last == 0 ? slot.inbox_first : next_entry(last), chain.first);
  put(slot.inbox_last, chain.first);
  put(slot.inbox_size, load(slot.inbox_size) + 1);
  return true;
}

void EntryTable::free_later(Index first) { unused_.push_back(first); }

void EntryTable::free_chain(Index first) {
  Index last = first;
  std::uint64_t seen = 0;
  for (Index next = load(cell(last).next); next != 0; next = load(cell(last).next)) {
    count(++seen);
    last = next;
  }
  put(cell(last).next, load(segment_.header.free_cell));
  put(segment_.header.free_cell, first);
  put(segment_.header.free_cells, load(segment_.header.free_cells) + seen + 1);
}

void EntryTable::commit() {
  for (const Index first : unused_) free_chain(first);
  unused_.clear();
  change_.commit();
}

}  // namespace latchkey::inline v1::detail::host
