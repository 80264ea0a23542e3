// A fork: the child owns nothing of what its parent holds.
#include "locks/space/announcement.hpp"
#include "locks/space/leak_intentionally.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::detail {

void LockSpace::prepare() noexcept {
  for (Shard& shard : shards_) shard.mutex.lock();
  connections_mutex_.lock();
  notifier_.lock_for_fork();
  closers_mutex_.lock();
}

void LockSpace::parent() noexcept {
  closers_mutex_.unlock();
  notifier_.unlock_after_fork();
  connections_mutex_.unlock();
  for (Shard& shard : shards_) shard.mutex.unlock();
}

// Inherited Hold objects point to the parent's records, and its waiting calls lie on the stacks of
// threads that do not exist here: the records are left behind, marked as lost, and never freed.
void LockSpace::child() noexcept {
  notifier_.forget_parent();
  connections_down_.clear();
  connections_mutex_.unlock();
  // The timer is no thread of this process: nothing to join, and what it sleeps on stays behind,
  // for a condition variable with a sleeper that will never wake cannot be destroyed.
  leave_behind(new std::thread(std::move(timer_)));
  leave_behind(timer_parker_.release());
  timer_parker_ = std::make_unique<Parker>();
  timer_started_.store(false);
  timer_has_work_.store(0);
  timer_sleeps_until_.store(Clock::never().time_since_epoch().count());
  closing_.store(false);
  closers_.clear();
  closers_mutex_.unlock();
  backend_->forget_parent();
  drop_left();  // the backend has dropped them
  settings_.space = HoldId::new_space();
  if (options_.announce) settings_.announcement = announcement_of_this_process();
  for (Watched& group : watched_) group.next_due.store(Clock::never().time_since_epoch().count());
  for (Shard& shard : shards_) {
    if (shard.table.size() != 0) {
      shard.table.for_each([](Coordinator& each) { each.inherit(); });
      leave_behind(new KeyTable<Coordinator>(std::move(shard.table)));
    }
    shard.timers.forget_all();
    shard.context.hold_objects = shard.departing = 0;
    shard.mutex.unlock();
  }
}

}  // namespace latchkey::detail
