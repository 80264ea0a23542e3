// A hash table from keys to intrusive records, which recycles them.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latchkey::detail {

/// The hash by which keys find their record (low bits) and their shard (high bits). Within one
/// process only: nothing may store it.
[[nodiscard]] inline std::size_t hash_key(std::string_view key) noexcept {
  static_assert(sizeof(std::size_t) == 8, "the hash is made for 64 bits");
  __extension__ using Wide = unsigned __int128;
  const auto mix = [](std::uint64_t left, std::uint64_t right) {
    const Wide product = static_cast<Wide>(left) * right;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  const auto eight = [](const char* bytes) {
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
  };
  constexpr std::uint64_t odd0 = 0xa0761d6478bd642f, odd1 = 0xe7037ed1a0b428db;

  const char* bytes = key.data();
  std::size_t left = key.size();
  std::uint64_t state = mix(left ^ odd0, odd1);
  while (left > 16) {
    state = mix(eight(bytes) ^ odd1, eight(bytes + 8) ^ state);
    bytes += 16;
    left -= 16;
  }
  std::uint64_t low = 0, high = 0;
  if (left >= 8) {  // the two words overlap where there are fewer than 16 bytes
    low = eight(bytes);
    high = eight(bytes + left - 8);
  } else if (left >= 4) {
    std::uint32_t first, last;
    std::memcpy(&first, bytes, sizeof first);
    std::memcpy(&last, bytes + left - 4, sizeof last);
    low = first;
    high = last;
  } else if (left > 0) {
    low = static_cast<unsigned char>(bytes[0]);
    high = (std::uint64_t{static_cast<unsigned char>(bytes[left / 2])} << 8) |
           static_cast<unsigned char>(bytes[left - 1]);
  }
  return mix(low ^ odd1, high ^ state);
}

/// Owns records found by their key. `Record` is default constructible and has the members
///
///     std::string key;  std::size_t hash;  Record* next;  void reset() noexcept;
///
/// of which the table writes the first three; reset() empties the rest when a record goes back to
/// the pool, and may keep capacities. The address of a record stays the same until it is erased.
/// Spare records keep the room of their key, so that a steady state allocates nothing for keys of
/// up to 64 bytes. Not thread-safe.
template <class Record>
class KeyTable {
 public:
  /// So many spare records are kept, or as many as are in use where that is more.
  static constexpr std::size_t least_spare = 64;

  KeyTable() = default;
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;
  ~KeyTable() {
    for (Record* record : buckets_) delete_chain(record);
    delete_chain(spare_);
  }

  /// Null where the key has no record. `hash` is hash_key(key).
  [[nodiscard]] Record* find(std::string_view key, std::size_t hash) const noexcept {
    if (buckets_.empty()) return nullptr;
    for (Record* record = buckets_[hash & mask()]; record != nullptr; record = record->next) {
      if (record->hash == hash && record->key == key) return record;
    }
    return nullptr;
  }

  /// A record for a key that has none, from the pool where there is one. Throws std::bad_alloc, and
  /// the table is as it was then.
  Record& insert(std::string_view key, std::size_t hash) {
    assert(find(key, hash) == nullptr);
    if (size_ >= buckets_.size()) grow();
    if (spare_ == nullptr) spare_ = new_record(key);
    spare_->key.assign(key);  // may throw: the record is still in the pool
    Record* record = std::exchange(spare_, spare_->next);
    --spares_;
    record->hash = hash;
    record->next = std::exchange(buckets_[hash & mask()], record);
    ++size_;
    return *record;
  }

  /// Back to the pool, after record.reset().
  void erase(Record& record) noexcept {
    Record** place = &buckets_[record.hash & mask()];
    while (*place != &record) place = &(*place)->next;
    *place = record.next;
    --size_;
    if (spares_ >= std::max(least_spare, size_) || record.key.capacity() > largest_spare_key) {
      delete &record;
      return;
    }
    record.reset();
    record.next = std::exchange(spare_, &record);
    ++spares_;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Calls `visit(Record&)` for each record, in no order; it may erase that record and no other,
  /// and it must not insert.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      for (Record* record = buckets_[bucket]; record != nullptr;) {
        Record* const following = record->next;
        visit(*record);
        record = following;
      }
    }
  }

  /// The same for the records of one bucket, of the next one at each call: so many calls later as
  /// there are buckets, every record was visited. For upkeep a little at a time.
  template <class Visit>
  void visit_some(Visit&& visit) {
    if (size_ == 0) return;
    for (Record* record = buckets_[turn_++ & mask()]; record != nullptr;) {
      Record* const following = record->next;
      visit(*record);
      record = following;
    }
  }

 private:
  static constexpr std::size_t usual_key = 64;
  static constexpr std::size_t largest_spare_key = 256;

  [[nodiscard]] std::size_t mask() const noexcept { return buckets_.size() - 1; }

  Record* new_record(std::string_view key) {
    auto* record = new Record;
    try {
      record->key.reserve(std::max(usual_key, key.size()));
    } catch (...) {
      delete record;
      throw;
    }
    record->next = nullptr;
    ++spares_;
    return record;
  }

  void grow() {
    std::vector<Record*> larger(std::max<std::size_t>(16, buckets_.size() * 2), nullptr);
    for (Record* record : buckets_) {
      while (record != nullptr) {
        Record* const following = record->next;
        record->next = std::exchange(larger[record->hash & (larger.size() - 1)], record);
        record = following;
      }
    }
    buckets_.swap(larger);
  }

  static void delete_chain(Record* record) noexcept {
    while (record != nullptr) delete std::exchange(record, record->next);
  }

  std::vector<Record*> buckets_;  // a power of two of them, or none yet
  std::size_t size_ = 0;
  std::size_t turn_ = 0;  // of visit_some
  Record* spare_ = nullptr;
  std::size_t spares_ = 0;
};

}  // namespace latchkey::detail
