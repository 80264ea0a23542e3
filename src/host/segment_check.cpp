// Examines a segment, and puts a new one in its place.
// SPDX-License-Identifier: BSL-1.0
#include "host/segment_check.hpp"

#include <optional>

#include "core/key_table.hpp"
#include "host/record_bytes.hpp"
#include "host/session.hpp"

namespace latchkey::inline v1::detail::host {
namespace {

/// Nobody is notified by a record that is only read.
class NoSubscriber final : public Subscriber {
 public:
  void notify(const Notification& /*notification*/) noexcept override {}
};

/// Marks each cell that something leads to, and finds those that two things lead to, or none.
class Examination {
 public:
  Examination(Layout& segment, EntryTable& entries)
      : segment_(segment), entries_(entries), seen_(segment.header.fresh_cell.load(), false) {}

  std::vector<std::string> run() {
    std::uint64_t found = 0;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
      entries_.for_bucket(bucket, [&](EntryTable::Index index) {
        ++found;
        examine_entry(index, bucket);
      });
    }
    if (found != segment_.header.entries.load()) {
      problems_.push_back("it counts " + std::to_string(segment_.header.entries.load()) +
                          " entries, and has " + std::to_string(found));
    }
    for (Slot& slot : segment_.slots) {
      examine_inbox(slot);
      mark_chain(slot.thin_cells.load());
    }
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) examine_thin_word(bucket);
    std::uint64_t cells = 0;
    std::uint64_t free = 0;
    for (std::uint64_t at = segment_.header.free_cell.load(); at != 0; at = next_of(at)) {
      if (!mark(at)) break;
      ++free;
    }
    if (free != segment_.header.free_cells.load()) {
      problems_.emplace_back("it counts its free cells wrongly");
    }
    for (std::size_t cell = 1; cell < seen_.size(); ++cell) cells += seen_[cell] ? 0 : 1;
    if (cells != 0) problems_.push_back(std::to_string(cells) + " cells are lost");
    return problems_;
  }

 private:
  [[nodiscard]] std::uint64_t next_of(std::uint64_t cell) const {
    return reinterpret_cast<Cell*>(&segment_ + 1)[cell - 1].next.load();
  }
  bool mark(std::uint64_t cell) {
    if (cell == 0 || cell >= seen_.size()) {
      problems_.push_back("cell " + std::to_string(cell) + " does not exist");
      return false;
    }
    if (seen_[cell]) {
      problems_.push_back("cell " + std::to_string(cell) + " is used twice");
      return false;
    }
    return seen_[cell] = true;
  }
  void mark_chain(std::uint64_t first) {
    for (std::uint64_t at = first; at != 0 && mark(at); at = next_of(at)) {
    }
  }
  void examine_entry(EntryTable::Index index, std::size_t bucket) {
    mark_chain(index);
    const EntryHead& head = entries_.head(index);
    const std::string key = entries_.key(index);
    if (head.hash != hash_key(key) || head.hash % bucket_count != bucket) {
      problems_.push_back("'" + key + "' stands in a wrong place");
    }
    if (head.kind != static_cast<std::uint32_t>(EntryKind::lock)) return;
    try {
      entries_.read(index, value_);
      LockRecord record;
      read_record(value_, record, traces_, [this](SinkNumber) -> Subscriber& { return nobody_; });
    } catch (const Damaged& what) {
      problems_.push_back("'" + key + "': " + what.what());
    }
  }
  void examine_inbox(Slot& slot) {
    std::uint64_t count = 0;
    for (std::uint64_t at = slot.inbox_first.load(); at != 0; at = entries_.head(at).next_entry) {
      mark_chain(at);
      if (++count > seen_.size()) break;
    }
    if (count != slot.inbox_size.load()) problems_.emplace_back("an inbox counts wrongly");
  }
  // Its process may take and give back the lock meanwhile, but not change what entries there are.
  void examine_thin_word(std::size_t bucket) {
    const std::uint64_t word = entries_.thin_word(bucket);
    if (word == ThinWord::in_table) return;
    const auto bad = [&](const char* what) {
      problems_.push_back("the thin word of bucket " + std::to_string(bucket) + ' ' + what);
    };
    const std::uint64_t cell = ThinWord::cell_of(word);
    if (ThinWord::is_held(word) && (cell >= seen_.size() || !seen_[cell])) {
      bad("leads to a cell of nobody");
    }
    std::size_t locks = 0;
    entries_.for_bucket(bucket, [&](EntryTable::Index index) {
      if (entries_.head(index).kind == static_cast<std::uint32_t>(EntryKind::lock)) ++locks;
    });
    if (locks != (word & ThinWord::awaited)) bad("counts the locks of its bucket wrongly");
  }

  Layout& segment_;
  EntryTable& entries_;
  std::vector<bool> seen_;
  std::vector<std::string> problems_;
  std::vector<std::byte> value_;
  std::vector<Trace> traces_;
  NoSubscriber nobody_;
};

}  // namespace

std::vector<std::string> check_segment(const SegmentPlace& place) {
  std::vector<std::string> problems;
  try {
    const std::optional<SegmentFile> file = SegmentFile::open_any(place);
    if (!file) return {};
    if (std::string problem = file->problem(); !problem.empty()) return {std::move(problem)};
    Session session(place, Session::Inheritance::refused);
    session.change([&](EntryTable& entries) {
      try {
        problems = Examination(session.layout(), entries).run();
      } catch (const Damaged& what) {
        problems.emplace_back(what.what());
      }
    });
  } catch (const Damaged& what) {
    problems.emplace_back(what.what());
  } catch (const Replaced&) {
    return {};  // the new one is new
  }
  return problems;
}

void replace_segment(const SegmentPlace& place) {
  std::optional<SegmentFile> file = SegmentFile::open_any(place);
  if (!file) return;
  const bool readable = file->has_header() && file->layout().header.magic == format_magic;
  SegmentFile::replace(place, *file, readable ? file->layout().header.last_token.load() : 0);
}

}  // namespace latchkey::inline v1::detail::host
