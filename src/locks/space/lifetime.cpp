// Counting what keeps a detached space alive.
// SPDX-License-Identifier: BSL-1.0
#include "locks/space/lifetime.hpp"

#include <utility>

#include "core/mutex.hpp"
#include "locks/space/lock_space.hpp"
#include "locks/space/shard_driver.hpp"

namespace latchkey::inline v1::detail {

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
  if (uncount()) space_->drop_reference();
}

void ReleaseGuard::drop_later() noexcept {
  if (uncount()) space_->drop_reference_later();
}

bool ReleaseGuard::uncount() noexcept {
  if (Shard* const shard = std::exchange(shard_, nullptr)) {
    const ScopedLock lock(shard->mutex);
    --shard->releasing_threads;
    counted_ = shard->detached;
  }
  return std::exchange(counted_, false);
}

}  // namespace latchkey::inline v1::detail
