// One request for several keys.
#include "locks/multi/batch_acquire.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "locks/space/direct_request.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/shard_driver.hpp"

namespace latchkey::detail {

/// The mutexes of all keys, locked in the order in which a fork locks them.
class BatchAcquire::ShardLocks {
 public:
  ShardLocks(ShardDriver& driver, std::span<const Item> items) noexcept : driver_(driver) {
    std::bitset<ShardDriver::shard_count> wanted;
    for (const Item& item : items) wanted.set(driver.index_of(driver.shard_of(item.hash)));
    for (std::size_t index = 0; index < wanted.size(); ++index) {
      if (wanted[index]) locks_[index].emplace(driver.shards()[index]);
    }
  }

  /// The lock of `shard`, which is one of them: its mutex is held.
  [[nodiscard]] ShardLock& of(const Shard& shard) noexcept LATCHKEY_ASSERT_CAPABILITY(shard.mutex) {
    return *locks_[driver_.index_of(shard)];
  }

 private:
  ShardDriver& driver_;
  std::array<std::optional<ShardLock>, ShardDriver::shard_count> locks_;  // without the heap
};

/// The acquire_all of those items that have a claim. If its outcome arrives after the wait is over,
/// each coordinator learns it, and gives back what was granted.
class BatchAcquire::BatchRequest final : public DirectRequest {
 public:
  BatchRequest(LockSpace& space, std::size_t count) : space_(space) {
    members_.reserve(count);
    claims_.reserve(count);
    items_.reserve(count);
  }

  void add(const Item& item, std::size_t index) noexcept {
    members_.push_back({item.claim->home->key.view(), item.type, item.claim->id});
    claims_.push_back(item.claim);
    items_.push_back(index);
    // No member's deadline counts from later than this, nor does the backend's lease.
    sent = std::max(sent, item.claim->acquire_request.sent);
  }
  [[nodiscard]] std::span<const Member> list() const noexcept { return members_; }
  /// The index of each member among all items.
  [[nodiscard]] std::span<const std::size_t> items() const noexcept { return items_; }

  void answered_late() noexcept override {
    for (RemoteHold* const claim : claims_) {
      Coordinator& home = *claim->home;
      Shard& shard = space_.driver().shard_of(home.hash);
      ShardLock lock(shard);
      Outcome its;
      its.kind = outcome.kind;
      its.never_ran = outcome.never_ran;
      space_.driver().handle(shard, lock, home, [&](EventContext& event) {
        home.completed(claim->acquire_request, its, event);
      });
    }
  }

 private:
  LockSpace& space_;
  std::vector<Member> members_;
  std::vector<RemoteHold*> claims_;  ///< under way, so their addresses do not change
  std::vector<std::size_t> items_;
};

bool BatchAcquire::is_possible(const LockSpace& space, std::span<const Item> items) {
  const auto fair = [](const Item& item) { return item.type == LockType::FAIR; };
  if (items.size() < 2 || std::ranges::any_of(items, fair)) return false;
  std::vector<std::string_view> keys;
  keys.reserve(items.size());
  for (const Item& item : items) keys.push_back(item.key);
  return space.takes_in_one_step(keys);
}

void BatchAcquire::run(Clock::time_point until) {
  if (!items_.empty()) space_.timer().require_running(items_.front().key, items_.front().type);
  for (Item& item : items_) item.hash = hash_key(item.key);
  require_parker();
  auto request = std::make_unique<BatchRequest>(space_, items_.size());
  if (!submit(*request)) return;
  if (!space_.direct_requests().wait(*request, until)) {
    give_up(*request);
    return space_.direct_requests().abandon(std::move(request));
  }
  ShardLocks locks(space_.driver(), items_);
  complete_all(locks, *request, request->outcome);
}

// False: every call is answered already.
bool BatchAcquire::submit(BatchRequest& request) {
  ShardLocks locks(space_.driver(), items_);
  bool first_everywhere = false;
  std::exception_ptr failure;
  try {
    first_everywhere = enqueue_all(locks);
  } catch (const std::bad_alloc&) {
    failure = std::current_exception();  // the places that were taken must be left again
  }
  for (std::size_t index = 0; index < items_.size(); ++index) {
    if (items_[index].claim != nullptr) request.add(items_[index], index);
  }
  Outcome outcome;
  outcome.kind = Outcome::Kind::busy;
  outcome.busy_member = static_cast<std::uint32_t>(request.list().size());  // none of these
  if (!first_everywhere) complete_all(locks, request, outcome);
  if (failure) std::rethrow_exception(failure);
  if (!first_everywhere || request.list().empty()) return false;
  prepare(request);
  outcome = Outcome{};
  if (!space_.driver().answer(request, outcome)) {
    try {
      space_.driver().submit(request);
      return true;
    } catch (const std::bad_alloc&) {
      outcome.reason = "out of memory";  // short enough to need none
      outcome.never_ran = true;
    }
  }
  complete_all(locks, request, outcome);
  return false;
}

// Each call takes its place in its key's queue. False: another call is in front of one of them, or
// one was answered otherwise.
bool BatchAcquire::enqueue_all(ShardLocks& locks) {
  for (Item& item : items_) {
    BlockingCall& call = *item.call;
    Attempt its = attempt_;
    its.type = item.type;
    call.want(item.owner, its);
    if (by_lock_) call.want_by_lock();
    call.limit_to_batch();
    Shard& shard = space_.driver().shard_of(item.hash);
    ShardLock& lock = locks.of(shard);
    call.start_acquire(shard, lock, {item.key, item.hash, shard});
    if (call.pending()) item.claim = call.call().hold;
    if (!call.pending() && call.answer() != Answer::granted) return false;
  }
  return true;
}

void BatchAcquire::prepare(BatchRequest& request) const {
  request.verb = Verb::acquire_all;
  request.members = request.list();
  request.key = request.members.front().key;
  request.lease = attempt_.lease.length(space_.options().watchdog);
  request.parker = &Parker::mine();
}

void BatchAcquire::complete_all(ShardLocks& locks, const BatchRequest& request,
                                const Outcome& outcome) {
  for (std::size_t index = 0; index < request.items().size(); ++index) {
    Item& item = items_[request.items()[index]];
    Outcome its;
    its.kind = outcome.kind;
    its.never_ran = outcome.never_ran;
    if (item.type == LockType::FENCED) its.token = outcome.token;
    if (outcome.kind != Outcome::Kind::busy || outcome.busy_member == index) {
      try {
        its.holder = outcome.holder;
        its.reason = outcome.reason;
      } catch (const std::bad_alloc&) {
        its.holder.clear();  // the error then names no holder
        its.reason.clear();
      }
      its.retry_after = outcome.retry_after;
    }
    Shard& shard = space_.driver().shard_of(item.hash);
    ShardLock& lock = locks.of(shard);
    item.call->complete(shard, lock, *item.claim, its);
  }
}

// The wait is over. Each coordinator gives back what may come of the request.
void BatchAcquire::give_up(const BatchRequest& request) {
  ShardLocks locks(space_.driver(), items_);
  for (const std::size_t index : request.items()) {
    Shard& shard = space_.driver().shard_of(items_[index].hash);
    ShardLock& lock = locks.of(shard);
    items_[index].call->give_up(shard, lock, *items_[index].claim);
  }
}

}  // namespace latchkey::detail
