// Counting what keeps a detached space alive.
#include "locks/space/lifetime.hpp"

#include "core/mutex.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/shard_driver.hpp"

namespace latchkey::detail {

bool Lifetime::detach(ShardDriver& driver) {
  references_.store(1);
  for (Shard& shard : driver.shards()) {
    const ScopedLock lock(shard.mutex);
    shard.detached = true;
    references_ += shard.context.hold_objects + shard.releasing_threads;
  }
  return drop();
}

void ReleaseGuard::drop() noexcept {
  if (shard_ != nullptr) {
    const ScopedLock lock(shard_->mutex);
    --shard_->releasing_threads;
    counted_ = shard_->detached;
  }
  if (counted_) space_->drop_reference();
}

}  // namespace latchkey::detail
