// Locks in ShedLock's collection.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "stores/mongodb/mongodb_backend.hpp"

namespace latchkey::inline v1::detail::mongodb {

/// Documents {_id, lockUntil, lockedAt, lockedBy}, as ShedLock's MongoLockProvider keeps them. A
/// document stays when its lock is free: lockUntil is in the past then. REENTRANT only.
class ShedLockBackend final : public MongoBackend {
 public:
  using MongoBackend::MongoBackend;

  [[nodiscard]] Capabilities capabilities() const noexcept override;

 protected:
  Outcome acquire(const Request& request) override;
  Outcome renew(const Request& request) override;
  Outcome verify(const Request& request) override;
  Outcome release(const Request& request) override;
  Outcome inspect(const Request& request) override;
  Outcome list(const Request& request) override;
  Outcome force_release(const Request& request) override;
};

}  // namespace latchkey::inline v1::detail::mongodb
