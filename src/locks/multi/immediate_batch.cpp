// Several keys that no other call of this process uses, acquired at once.
// SPDX-License-Identifier: BSL-1.0
#include "locks/multi/immediate_batch.hpp"

#include <algorithm>
#include <cstdint>
#include <new>

#include "core/collections/small_vector.hpp"
#include "core/sanitizer_pause.hpp"
#include "core/thread_order.hpp"
#include "locks/multi/shard_locks.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/shard_driver.hpp"

namespace latchkey::inline v1::detail {

MultiHold::Owned ImmediateBatch::acquire(LockSpace& space, std::span<const std::string_view> keys,
                                         const AcquireTerms& terms) {
  const SanitizerPause pause;
  ImmediateBatch batch(space, terms, space.acquire_time(terms.lease));
  if (!batch.set_keys(keys)) return nullptr;
  const std::span<Item> items = batch.items();
  space.timer().require_running(items.front().key, terms.type);
  // Made before the keys are granted: after that no memory may be missing.
  MultiHold::Owned all = MultiHold::make(
      items.size(), [&](std::size_t index) { return space.without_prefix(items[index].key); });
  if (terms.wants_token()) batch.set_named_order(keys, *all);
  if (!batch.take()) return nullptr;
  for (const Item& item : items) {
    order_after_grant(item.key, terms.type);
    all->add(*item.claim, first_terms(terms.type, terms.lease, terms.fenced));
  }
  return all;
}

// Sorts the keys as a LockSet does, so that Hold::id has one order. False: a key is named twice,
// which is left to a LockSet.
bool ImmediateBatch::set_keys(std::span<const std::string_view> keys) noexcept {
  for (const std::string_view key : keys) {
    Item* place = items_.data() + size_++;
    for (; place != items_.data(); --place) {
      const auto order = key <=> place[-1].key;
      if (order == 0) return false;
      if (order > 0) break;
      *place = place[-1];
    }
    // Each member by itself: a block that is read right after its parts were written waits until
    // they have reached the cache.
    place->key = key;
    place->hash = space_.driver().place_of(key).hash;
    place->home = nullptr;
    place->claim = nullptr;
  }
  return true;
}

void ImmediateBatch::set_named_order(std::span<const std::string_view> keys, MultiHold& all) {
  SmallVector<std::uint16_t, most> places;
  for (const std::string_view key : keys) {
    const auto item = std::ranges::find(items(), key, &Item::key);
    places.push_back(static_cast<std::uint16_t>(item - items().begin()));
  }
  all.set_named_order(places);
}

bool ImmediateBatch::take() {
  ShardLocks locks(space_.driver(), items());
  if (!all_unused(locks)) return false;
  Outcome outcome;
  if (!claim_all(locks) || !ask(outcome)) {
    withdraw_all(locks);
    return false;
  }
  for (const Item& item : items()) {
    Shard& shard = space_.driver().shard_of(item.hash);
    static_cast<void>(locks.of(shard));
    item.home->grant_at_once(*item.claim, terms_, outcome.token, now_);
    space_.driver().schedule(shard, *item.home);
  }
  return true;
}

bool ImmediateBatch::all_unused(ShardLocks& locks) noexcept {
  return std::ranges::all_of(items(), [&](const Item& item) {
    const Shard& shard = space_.driver().shard_of(item.hash);
    static_cast<void>(locks.of(shard));
    const Coordinator* const home = shard.table.find(item.key, item.hash);
    return !shard.context.closed && (home == nullptr || home->idle());
  });
}

// Called after all_unused. False: there is no memory for one of them.
bool ImmediateBatch::claim_all(ShardLocks& locks) noexcept {
  try {
    for (Item& item : items()) {
      Shard& shard = space_.driver().shard_of(item.hash);
      static_cast<void>(locks.of(shard));
      item.home = &ShardDriver::coordinator(shard, {item.key, item.hash, shard});
      item.claim = &item.home->claim_at_once(terms_, now_);
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// One request for all: no other user of the backend may see some of the keys locked and others
// free. It is the first claim's own, which has all but the members; another one would take longer
// to make than all else here takes. False: they are not granted.
bool ImmediateBatch::ask(Outcome& outcome) noexcept {
  SmallVector<Member, most> members;
  for (const Item& item : items()) {
    members.emplace_back(item.home->key.view(), terms_.type, item.claim->id, item.hash,
                         item.claim->fenced);
  }
  Request& request = items_.front().claim->acquire.request;
  request.verb = Verb::acquire_all;
  request.members = members;
  const bool answered = space_.driver().answer(request, outcome);
  request.verb = Verb::acquire;
  request.members = {};
  if (!answered) return false;
  if (outcome.kind == Outcome::Kind::granted) return true;
  for (const Item& item : items()) item.claim->acquire.note(outcome);
  return false;
}

void ImmediateBatch::withdraw_all(ShardLocks& locks) {
  for (const Item& item : items()) {
    if (item.home == nullptr) continue;
    Shard& shard = space_.driver().shard_of(item.hash);
    space_.driver().withdraw(shard, locks.of(shard), *item.home, item.claim);
  }
}

}  // namespace latchkey::inline v1::detail
