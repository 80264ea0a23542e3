// One request for several keys.
// SPDX-License-Identifier: BSL-1.0
#include "locks/multi/batch_acquire.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "locks/multi/batch_steps.hpp"
#include "locks/multi/shard_locks.hpp"
#include "locks/space/direct_request.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/shard_driver.hpp"

namespace latchkey::inline v1::detail {

/// The acquire_all of a batch. If its outcome arrives after the wait is over, each coordinator
/// learns it, and gives back what was granted.
class BatchAcquire::BatchRequest final : public DirectRequest {
 public:
  BatchRequest(LockSpace& space, std::size_t count) : claims(count), space_(space) {}

  BatchClaims claims;

  void answered_late() noexcept override {
    complete_late(claims, outcome, [&](RemoteHold& claim, Outcome& its) {
      Coordinator& home = *claim.home;
      Shard& shard = space_.driver().shard_of(home.hash);
      ShardLock lock(shard);
      space_.driver().handle(shard, lock, home, [&](EventContext& event) {
        home.completed(claim.acquire.request, its, event);
      });
    });
  }

 private:
  LockSpace& space_;
};

/// Brings the events of BatchSteps, with the mutexes of all keys held.
class BatchAcquire::Host {
 public:
  explicit Host(BatchAcquire& batch) noexcept
      : batch_(batch), locks_(batch.space_.driver(), batch.items_) {}

  const Call& start_claim(std::size_t index) {
    Item& item = batch_.items_[index];
    BlockingCall& call = *item.call;
    Attempt its = batch_.attempt_;
    its.type = item.type;
    call.want(item.owner, its);
    call.want_for(*item.report);
    if (batch_.by_lock_) call.want_by_lock();
    call.limit_to_batch(batch_.grace_);
    Shard& shard = driver().shard_of(item.hash);
    ShardLock& lock = locks_.of(shard);
    call.start_acquire(shard, lock, {item.key, item.hash, shard});
    return call.call();
  }

  void complete(std::size_t index, RemoteHold& claim, Outcome& outcome) {
    Item& item = batch_.items_[index];
    Shard& shard = driver().shard_of(item.hash);
    ShardLock& lock = locks_.of(shard);
    item.call->complete(shard, lock, claim, outcome);
  }

  void give_up(std::size_t index, RemoteHold& claim) {
    Item& item = batch_.items_[index];
    Shard& shard = driver().shard_of(item.hash);
    ShardLock& lock = locks_.of(shard);
    item.call->give_up(shard, lock, claim);
  }

  bool answers_at_once(Request& request, Outcome& outcome) {
    return driver().answer(request, outcome);
  }
  void submit(Request& request) { driver().submit(request); }

 private:
  [[nodiscard]] ShardDriver& driver() noexcept { return batch_.space_.driver(); }

  BatchAcquire& batch_;
  ShardLocks locks_;
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
  request->parker = &Parker::mine();
  if (!start(*request)) return;
  const bool answered = space_.direct_requests().wait(*request, later(until, grace_));
  {
    Host host(*this);
    BatchSteps steps(host, request->claims);
    if (answered) return steps.complete(request->outcome);
    steps.give_up();
  }
  space_.direct_requests().abandon(std::move(request));
}

// Claims the keys and sends the request. False: every call is answered already.
bool BatchAcquire::start(BatchRequest& request) {
  Host host(*this);
  return BatchSteps(host, request.claims).start(items_.size(), request);
}

}  // namespace latchkey::inline v1::detail
