// One space of locks inside the process.
// SPDX-License-Identifier: BSL-1.0
#include "memory/memory_space.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>

#include "core/collections/index_set.hpp"
#include "core/never_destroyed.hpp"
#include "core/thread_annotations.hpp"
#include "memory/awaited_names.hpp"

namespace latchkey::inline v1::detail {
namespace {

/// The named spaces that are open.
class NamedSpaces final : private ForkParticipant {
 public:
  static NamedSpaces& all() {
    // Never destroyed: spaces may be closed while static objects are destroyed.
    static NeverDestroyed<NamedSpaces> the;
    return the.get();
  }

  std::shared_ptr<MemorySpace> find(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto place = spaces_.find(name);
    return place == spaces_.end() ? nullptr : place->second.lock();
  }

  /// Returns `space`, or the space that another thread has added meanwhile.
  std::shared_ptr<MemorySpace> add(std::shared_ptr<MemorySpace> space) {
    const std::lock_guard lock(mutex_);
    std::erase_if(spaces_, [](const auto& entry) { return entry.second.expired(); });
    const auto [place, added] = spaces_.try_emplace(space->name(), space);
    if (added) return space;
    if (auto theirs = place->second.lock()) return theirs;
    place->second = space;
    return space;
  }

 private:
  friend class NeverDestroyed<NamedSpaces>;
  NamedSpaces() { register_fork_participant(ForkLevel::backend, *this); }

  void prepare() noexcept override LATCHKEY_FORK_HANDLER { mutex_.lock(); }
  void parent() noexcept override LATCHKEY_FORK_HANDLER { mutex_.unlock(); }
  void child() noexcept override LATCHKEY_FORK_HANDLER { mutex_.unlock(); }

  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<MemorySpace>, std::less<>> spaces_;
};

}  // namespace

std::shared_ptr<MemorySpace> MemorySpace::open(std::string_view name, Clock& clock) {
  if (name.empty()) return std::make_shared<MemorySpace>(name, clock);
  std::shared_ptr<MemorySpace> space = NamedSpaces::all().find(name);
  // Made without a mutex held: a space registers a fork handler, and a fork locks the registry and
  // this mutex in the opposite order.
  if (space == nullptr) space = NamedSpaces::all().add(std::make_shared<MemorySpace>(name, clock));
  if (&space->clock() != &clock) {
    throw std::invalid_argument("the space 'memory:" + std::string(name) +
                                "' is open with another clock: leases need one for all");
  }
  return space;
}

MemorySpace::MemorySpace(std::string_view name, Clock& clock) : clock_(clock), name_(name) {
  register_fork_participant(ForkLevel::backend, *this);
}

MemorySpace::~MemorySpace() { unregister_fork_participant(*this); }

void MemorySpace::apply_any(const Request& request, Subscriber* subscriber,
                            Outcome& outcome) noexcept {
  const bool dated = request.sent != Clock::time_point{};
  const Clock::time_point now = dated ? request.sent : clock_.now();
  try {
    if (request.verb == Verb::acquire_all) {
      apply_to_several(request, now, outcome);
    } else if (request.latch || CountTable::serves(request.verb)) {
      const std::lock_guard lock(counts_mutex_);
      counts_.apply(request, subscriber, outcome);
    } else if (request.verb == Verb::revoke) {
      revoke(request, now, outcome);
    } else if (request.revocations) {
      const std::lock_guard lock(counts_mutex_);
      revocations_.change_subscription(request, *subscriber);
      outcome.kind = Outcome::Kind::granted;
    } else if (request.verb == Verb::list) {
      list(request, now, outcome);
    } else {
      const std::size_t hash = request.hash != 0 ? request.hash : hash_key(request.key);
      Shard& shard = shards_[shard_of(hash)];
      const std::lock_guard lock(shard.mutex);
      shard.table.apply(request, hash, now, subscriber, outcome);
    }
  } catch (const std::bad_alloc&) {
    outcome = Outcome{};
    outcome.reason = "no memory left";  // short enough to need no allocation
  }
}

// The shard stays locked until the note is there: it names those who hold the key when the message
// is published, and never the next one.
void MemorySpace::revoke(const Request& request, Clock::time_point now, Outcome& outcome) {
  const std::size_t hash = request.hash != 0 ? request.hash : hash_key(request.key);
  Shard& shard = shards_[shard_of(hash)];
  const std::lock_guard lock(shard.mutex);
  std::size_t told = 0;
  {
    const std::lock_guard lock_of_subscribers(counts_mutex_);
    told = revocations_.notify(request.key);
  }
  outcome.kind = Outcome::Kind::granted;
  if (told == 0) return;
  shard.table.apply(request, hash, now, nullptr, outcome);
  outcome.notified = told;
}

void MemorySpace::apply_to_several(const Request& request, Clock::time_point now,
                                   Outcome& outcome) {
  using Wanted = IndexSet<shard_count>;
  Wanted wanted;
  for (const Member& member : request.members) wanted.insert(shard_of(LockTable::hash_of(member)));
  // The analysis does not see that what the constructor locks the destructor unlocks.
  struct Locked {
    std::array<Shard, shard_count>& shards;
    const Wanted& which;
    Locked(std::array<Shard, shard_count>& all, const Wanted& these) : shards(all), which(these) {
      which.for_each([&](std::size_t index)
                         LATCHKEY_NO_THREAD_SAFETY_ANALYSIS { shards[index].mutex.lock(); });
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
    ~Locked() {
      which.for_each([&](std::size_t index)
                         LATCHKEY_NO_THREAD_SAFETY_ANALYSIS { shards[index].mutex.unlock(); });
    }
  };
  const Locked locked(shards_, wanted);
  const auto table_of = [this](std::size_t hash) -> LockTable& {
    return shards_[shard_of(hash)].table;
  };
  LockTable::acquire_all(request, now, table_of, outcome);
}

// One part of a listing of locked keys covers some shards; one of awaited keys covers all.
void MemorySpace::list_part(const Request& request, Clock::time_point now, Outcome& outcome) {
  ListPart& part = *request.part;
  std::uint64_t at = part.cursor.position;
  part.examined = 0;
  for (; at < shard_count && (part.awaited || part.examined < part.budget); ++at) {
    Shard& shard = shards_[at];
    const std::lock_guard lock(shard.mutex);
    part.examined += shard.table.size();
    outcome = shard.table.apply(request, now);
  }
  outcome.kind = Outcome::Kind::granted;
  part.cursor.position = at < shard_count ? at : 0;
  part.total = part.awaited ? part.waiters.size() : size();
  if (part.awaited) keep_most_awaited(*request.names, part);
}

void MemorySpace::list(const Request& request, Clock::time_point now, Outcome& outcome) {
  if (request.part != nullptr) return list_part(request, now, outcome);
  const auto first = static_cast<std::ptrdiff_t>(request.names->size());
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    outcome = shard.table.apply(request, now);
  }
  std::sort(request.names->begin() + first, request.names->end());
}

void MemorySpace::forget(const Subscriber& subscriber) noexcept {
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    shard.table.forget(subscriber);
  }
  const std::lock_guard lock(counts_mutex_);
  counts_.forget(subscriber);
  revocations_.forget(subscriber);
}

std::size_t MemorySpace::size() noexcept {
  std::size_t sum = 0;
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    sum += shard.table.size();
  }
  const std::lock_guard lock(counts_mutex_);
  return sum + counts_.size();
}

void MemorySpace::prepare() noexcept {
  for (Shard& shard : shards_) shard.mutex.lock();
  counts_mutex_.lock();
}

void MemorySpace::parent() noexcept {
  counts_mutex_.unlock();
  for (Shard& shard : shards_) shard.mutex.unlock();
}

// The child has a complete copy. Holds of the parent remain in it: busy until their leases end.
void MemorySpace::child() noexcept { parent(); }

}  // namespace latchkey::inline v1::detail
