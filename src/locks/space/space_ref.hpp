// How Locks and Lock keep their space alive.
#pragma once

#include "core/sanitizer_pause.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::detail {

/// Shared by Locks and Lock. When the last of them goes, the space lives on only for its holds.
class SpaceRef {
 public:
  explicit SpaceRef(LockSpace* space) noexcept : space_(space) {}
  SpaceRef(const SpaceRef&) = delete;
  SpaceRef& operator=(const SpaceRef&) = delete;
  ~SpaceRef() {
    const SanitizerPause pause;
    space_->detach();
  }

  [[nodiscard]] LockSpace& space() const noexcept { return *space_; }

 private:
  LockSpace* space_;
};

}  // namespace latchkey::detail
