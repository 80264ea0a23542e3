// The locks of this process that nobody contends for.
// SPDX-License-Identifier: BSL-1.0
#include "host/thin_locks.hpp"

#include <algorithm>
#include <cstring>

#include "core/mutex.hpp"
#include "host/record_bytes.hpp"
#include "host/store_observer.hpp"
#include "memory/lock_record.hpp"

namespace latchkey::inline v1::detail::host {

void ThinLocks::attach(Layout& segment, std::size_t slot) {
  Slot& own = segment.slots[slot];
  auto* const cells = reinterpret_cast<Cell*>(&segment + 1);
  std::uint64_t at = own.thin_cells.load(std::memory_order_acquire);
  for (Shard& shard : shards_) {
    const ScopedLock lock(shard.mutex);
    if (at == 0) return;  // the segment had no room for cells
    for (Own& each : shard.cells) {
      Cell& cell = cells[at - 1];
      each = {reinterpret_cast<ThinHold*>(cell.bytes.data()), ThinWord::of(at, slot), nullptr};
      at = cell.next.load(std::memory_order_relaxed);
    }
    shard.name = own.name.load(std::memory_order_relaxed);
    shard.slot = &own;
    shard.segment = &segment;
  }
}

void ThinLocks::detach() noexcept {
  for (Shard& shard : shards_) {
    const ScopedLock lock(shard.mutex);
    shard.segment = nullptr;
    shard.cells = {};
  }
}

void ThinLocks::reclaim(std::size_t hash) noexcept {
  Shard& shard = shard_of(hash);
  const ScopedLock lock(shard.mutex);
  for (Own& own : shard.cells) {
    if (own.where == nullptr) continue;
    const std::uint64_t word = own.where->load(std::memory_order_acquire);
    if ((word & ~ThinWord::awaited) != own.word) own.where = nullptr;
  }
}

bool ThinLocks::acquire(const Request& request) noexcept {
  const bool is_simple = !request.wants_token() && request.type != LockType::PERMIT &&
                         request.note.empty() && request.key.size() <= sizeof(ThinHold::key);
  if (!is_simple) return false;
  Shard& shard = shard_of(request.hash);
  const ScopedLock lock(shard.mutex);
  if (!is_valid(shard)) return false;
  Word& word = shard.segment->thin[request.hash % bucket_count];
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  // One that waits in line gives up its place with the grant: that is in the table.
  if (!ThinWord::is_free(seen) || (seen != 0 && request.queues)) return false;
  const auto own = std::ranges::find(shard.cells, nullptr, &Own::where);
  if (own == shard.cells.end()) return false;
  about_to_store();
  ThinHold& hold = *own->hold;
  hold.id = request.id;
  hold.ends = ticks(later(request.sent, request.lease));
  hold.lock_delay = request.lock_delay.count();
  hold.hash = request.hash;
  hold.type = static_cast<std::uint32_t>(request.type);
  hold.key_size = static_cast<std::uint32_t>(request.key.size());
  std::memcpy(hold.key.data(), request.key.data(), request.key.size());
  about_to_store();
  if (!word.compare_exchange_strong(seen, own->word | seen, std::memory_order_acq_rel,
                                    std::memory_order_relaxed)) {
    return false;
  }
  own->where = &word;
  return true;
}

bool ThinLocks::release(const Request& request) noexcept {
  Shard& shard = shard_of(request.hash);
  const ScopedLock lock(shard.mutex);
  if (!is_valid(shard)) return false;
  const auto own = std::ranges::find_if(shard.cells, [&](const Own& each) {
    return each.where != nullptr && each.hold->id == request.id;
  });
  if (own == shard.cells.end()) return false;
  const ThinHold& hold = *own->hold;
  const bool is_held =
      hold.hash == request.hash && hold.ends > ticks(request.sent) &&
      LockRecord::mode_of(static_cast<LockType>(hold.type)) == LockRecord::mode_of(request.type);
  if (!is_held) return false;
  std::uint64_t seen = own->where->load(std::memory_order_relaxed);
  if ((seen & ~ThinWord::awaited) != own->word) return false;  // the hold was moved to the table
  about_to_store();
  if (!own->where->compare_exchange_strong(seen, seen & ThinWord::awaited,
                                           std::memory_order_acq_rel, std::memory_order_relaxed)) {
    return false;
  }
  own->where = nullptr;
  return true;
}

void ThinLocks::lock_all() noexcept {
  for (Shard& shard : shards_) shard.mutex.lock();
}

void ThinLocks::unlock_all() noexcept {
  for (Shard& shard : shards_) shard.mutex.unlock();
}

}  // namespace latchkey::inline v1::detail::host
