// How a space ends: closing, the last reference, and threads that end before it.
#include <mutex>

#include "locks/space/lock_space.hpp"

namespace latchkey::detail {

void LockSpace::close(std::chrono::milliseconds drain) {
  struct Entry {
    LockSpace& space;
    Closer closer{Parker::mine()};

    explicit Entry(LockSpace& of) : space(of) {
      const std::lock_guard guard(space.closers_mutex_);
      space.closers_.push_back(closer);
      space.closing_.store(true);
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() {
      const std::lock_guard guard(space.closers_mutex_);
      space.closers_.remove(closer);
      if (space.closers_.empty()) space.closing_.store(false);
    }
  } entry(*this);
  for (Shard& shard : shards_) {
    const std::lock_guard guard(shard.mutex);
    shard.context.closed = true;
  }
  for_each_coordinator([](Coordinator& each, EventContext& context) { each.end_waits(context); });
  wait_while_held(later(clock_.now(), drain), entry.closer.parker);
  for_each_coordinator([](Coordinator& each, EventContext& context) { each.end_holds(context); });
  wait_while_held(later(clock_.now(), options_.command_timeout), entry.closer.parker);
  notifier_.finish(options_.command_timeout);
}

// Every turn of a coordinator ends the closers' sleep, and they look again.
void LockSpace::wait_while_held(Clock::time_point until, Parker& parker) {
  for (;;) {
    bool held = false;
    for (Shard& shard : shards_) {
      const std::lock_guard guard(shard.mutex);
      shard.table.for_each([&](const Coordinator& each) { held = held || each.held(); });
    }
    if (!held || clock_.now() >= until) return;
    drive(parker, until);
  }
}

// With a shard's mutex held.
void LockSpace::wake_closers() noexcept {
  const std::lock_guard guard(closers_mutex_);
  for (Closer* each = closers_.first(); each != nullptr; each = each->next) each->parker.unpark();
}

void LockSpace::detach() {
  detached_holds_.store(1);
  for (Shard& shard : shards_) {
    const std::lock_guard guard(shard.mutex);
    shard.detached = true;
    detached_holds_ += shard.context.hold_objects + shard.departing;
  }
  one_hold_less();
}

void LockSpace::one_hold_less() noexcept {
  if (detached_holds_.fetch_sub(1) == 1) delete this;
}

void LockSpace::owner_ended(Owner owner) {
  for_each_coordinator(
      [&](Coordinator& each, EventContext& context) { each.owner_ended(owner, context); });
}

}  // namespace latchkey::detail
