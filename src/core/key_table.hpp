// A hash table from keys to intrusive records, small enough to have thousands of tables.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "core/inline_string.hpp"
#include "core/thread_cache.hpp"

namespace latchkey::inline v1::detail {

/// The hash that selects a key's record (low bits) and shard (high bits). It is valid within one
/// process only and must not be stored.
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
  // The first two words of the default secret of wyhash, final version 3 (Wang Yi, public domain,
  // github.com/wangyi-fudan/wyhash): odd, with as many ones as zeros. The mixing is wyhash's too.
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
  if (left >= 8) {  // the two words overlap for fewer than 16 bytes
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

/// Owns records and finds them by key. `Record` is default constructible and has the members
///
///     InlineString key;  std::size_t hash;  Record* next;  void reset() noexcept;
///
/// The table writes the first three. reset() empties the rest when a record is erased, and may keep
/// capacities. The address of a record stays the same until it is erased. Records come from the
/// ThreadCache of the calling thread: a thread that has few records at a time allocates nothing for
/// keys of up to 64 bytes. An empty table takes 24 bytes and no other memory. Not thread-safe.
template <class Record>
class KeyTable {
 public:
  KeyTable() noexcept = default;
  /// Takes all records of `other`, which is empty afterwards.
  KeyTable(KeyTable&& other) noexcept
      : buckets_(std::exchange(other.buckets_, {})),
        mask_(std::exchange(other.mask_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  KeyTable& operator=(KeyTable&&) = delete;
  ~KeyTable() {
    for (std::size_t bucket = 0; bucket <= mask_; ++bucket) delete_chain(chain(bucket));
    if (mask_ != 0) delete[] buckets_.many;
  }

  /// Null if the key has no record. `hash` is hash_key(key).
  [[nodiscard, gnu::always_inline]] Record* find(std::string_view key,
                                                 std::size_t hash) const noexcept {
    for (Record* record = chain(hash & mask_); record != nullptr; record = record->next) {
      if (record->hash == hash && record->key == key) return record;
    }
    return nullptr;
  }

  /// Makes a record for a key that has none. Throws std::bad_alloc and then changes nothing.
  Record& insert(std::string_view key, std::size_t hash) {
    assert(find(key, hash) == nullptr);
    if (size_ > mask_ + crowd) grow();
    Record& record = named(key);
    record.hash = hash;
    Record*& first = chain(hash & mask_);
    record.next = std::exchange(first, &record);
    ++size_;
    return record;
  }

  /// Calls record.reset() and gives the record to the calling thread's ThreadCache.
  void erase(Record& record) noexcept {
    Record** place = &chain(record.hash & mask_);
    while (*place != &record) place = &(*place)->next;
    erase_at(place);
  }

  /// Erases the key's record if it has one that `may_go(const Record&)`. Returns whether it did.
  template <class Condition>
  bool erase_if(std::string_view key, std::size_t hash, Condition&& may_go) noexcept {
    Record** place = &chain(hash & mask_);
    for (; *place != nullptr; place = &(*place)->next) {
      Record& record = **place;
      if (record.hash != hash || record.key != key) continue;
      if (!may_go(record)) return false;
      erase_at(place);
      return true;
    }
    return false;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Calls `visit(Record&)` for each record, in no particular order. `visit` may erase that record
  /// and no other, and it must not insert.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (std::size_t bucket = 0; bucket <= mask_; ++bucket) visit_chain(bucket, visit);
  }

  /// Like for_each, for the records of one bucket; each call visits the next bucket. All records
  /// are visited after as many calls as there are buckets. For incremental maintenance.
  template <class Visit>
  void visit_some(Visit&& visit) {
    if (size_ != 0) visit_chain(turn_++ & mask_, visit);
  }

 private:
  static constexpr std::size_t crowd = 3;  // at most this many more records than buckets

  /// mask_ + 1 buckets, a power of two.
  union Buckets {
    Record* only = nullptr;  // there is one
    Record** many;           // there are several, which the table owns
  };

  [[nodiscard]] Record*& chain(std::size_t bucket) noexcept {
    return mask_ == 0 ? buckets_.only : buckets_.many[bucket];
  }
  [[nodiscard]] Record* chain(std::size_t bucket) const noexcept {
    return mask_ == 0 ? buckets_.only : buckets_.many[bucket];
  }

  void erase_at(Record** place) noexcept {
    Record& record = **place;
    *place = record.next;
    --size_;
    record.key.clear();
    ThreadCache<Record>::give_back(record);
  }

  static Record& named(std::string_view key) {
    Record& record = ThreadCache<Record>::take();
    try {
      record.key = key;
    } catch (...) {
      ThreadCache<Record>::give_back(record);
      throw;
    }
    return record;
  }

  template <class Visit>
  void visit_chain(std::size_t bucket, Visit& visit) {
    for (Record* record = chain(bucket); record != nullptr;) {
      Record* const following = record->next;
      visit(*record);
      record = following;
    }
  }

  [[gnu::noinline]] void grow() {
    const std::size_t mask = 4 * mask_ + 3;
    auto larger = std::make_unique<Record*[]>(mask + 1);
    for (std::size_t bucket = 0; bucket <= mask_; ++bucket) {
      for (Record* record = chain(bucket); record != nullptr;) {
        Record* const following = record->next;
        record->next = std::exchange(larger[record->hash & mask], record);
        record = following;
      }
    }
    if (mask_ != 0) delete[] buckets_.many;
    buckets_.many = larger.release();
    mask_ = mask;
  }

  static void delete_chain(Record* record) noexcept {
    while (record != nullptr) delete std::exchange(record, record->next);
  }

  Buckets buckets_{};
  std::size_t mask_ = 0;
  std::uint32_t turn_ = 0;  // the next bucket of visit_some
  std::uint32_t size_ = 0;
};

}  // namespace latchkey::inline v1::detail
