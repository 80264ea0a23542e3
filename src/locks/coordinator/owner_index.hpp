// Finds what belongs to one owner among many.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include <latchkey/owner.hpp>

namespace latchkey::inline v1::detail {

/// Chains of entries by owner, so that a lookup takes constant time on average however many owners
/// there are. Entries carry `owner`, which stays as it is while they are here, and `same_bucket`.
/// Allocates from the ninth entry on; if no memory is left the chains get longer.
template <class Entry>
class OwnerIndex {
 public:
  void insert(Entry& entry) noexcept {
    if (size_ == 0) [[likely]] {
      only_ = &entry;
      entry.same_bucket = nullptr;
      size_ = 1;
      return;
    }
    if (++size_ > (many_ == nullptr ? most_in_one_chain : 2 * buckets())) grow();
    append(entry);
  }

  void erase(Entry& entry) noexcept {
    if (only_ == &entry && size_ == 1) [[likely]] {
      only_ = nullptr;
      size_ = 0;
      return;
    }
    Entry** link = &chain(entry.owner);
    while (*link != &entry) link = &(*link)->same_bucket;
    *link = entry.same_bucket;
    if (--size_ == 0) clear();
  }

  /// The entry of this owner that came first; null: there is none.
  [[nodiscard]] Entry* first(Owner owner) const noexcept {
    return matching(const_cast<OwnerIndex&>(*this).chain(owner), owner);  // NOLINT
  }
  /// The one that came after `entry`.
  [[nodiscard]] static Entry* next(const Entry& entry) noexcept {
    return matching(entry.same_bucket, entry.owner);
  }

  void clear() noexcept {
    many_.reset();
    only_ = nullptr;
    mask_ = size_ = 0;
  }

 private:
  static constexpr std::size_t most_in_one_chain = 8;

  [[nodiscard]] std::size_t buckets() const noexcept { return mask_ + 1; }
  [[nodiscard]] Entry*& chain(Owner owner) noexcept {
    return many_ == nullptr ? only_ : many_[owner.number() & mask_];
  }
  [[nodiscard]] static Entry* matching(Entry* entry, Owner owner) noexcept {
    while (entry != nullptr && entry->owner != owner) entry = entry->same_bucket;
    return entry;
  }

  // Appends at the end, so that entries of one owner stay in their order.
  void append(Entry& entry) noexcept {
    Entry** link = &chain(entry.owner);
    while (*link != nullptr) link = &(*link)->same_bucket;
    *link = &entry;
    entry.same_bucket = nullptr;
  }

  void grow() noexcept {
    const std::size_t count = 4 * buckets();
    std::unique_ptr<Entry*[]> old(new (std::nothrow) Entry* [count] {});
    if (old == nullptr) return;
    old.swap(many_);
    const std::size_t old_count = buckets();
    mask_ = count - 1;
    for (std::size_t bucket = 0; bucket < old_count; ++bucket) {
      Entry* entry = old == nullptr ? only_ : old[bucket];
      while (entry != nullptr) {
        Entry& moved = *entry;
        entry = entry->same_bucket;
        append(moved);
      }
    }
    only_ = nullptr;
  }

  std::unique_ptr<Entry*[]> many_;  ///< null: `only_` is the one chain
  Entry* only_ = nullptr;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

}  // namespace latchkey::inline v1::detail
