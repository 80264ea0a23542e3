// Code that all workers of latchkey share: their hold, their options and their acquires.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>

#include "chaos/worker/lock_source.hpp"

namespace latchkey::chaos {

class LatchkeyHold : public HeldLock {
 public:
  explicit LatchkeyHold(Hold hold);
  bool lost() const override { return hold_.lost(); }
  std::chrono::milliseconds remaining() const override { return hold_.remaining(); }
  std::optional<std::uint64_t> token() const override { return hold_.fencing_token(); }
  bool revoked() const override { return hold_.revoked(); }
  bool limit_named() const override;
  bool release() override { return hold_.release(); }

 protected:
  Hold hold_;

 private:
  const std::size_t key_;              ///< its number
  const std::uint64_t limits_before_;  ///< how many losses of the key were named before
};

Locks connect_worker(const std::string& uri,
                     std::chrono::milliseconds cache = std::chrono::milliseconds(0));

/// Acquires on the calling thread, which waits itself. Null: busy.
std::unique_ptr<HeldLock> acquire_blocking(const Locks& locks, const Request& request);
/// Acquires with Locks of its own, while no thread can be made. Null: busy.
std::unique_ptr<HeldLock> acquire_without_threads(const std::string& uri, const Request& request);

}  // namespace latchkey::chaos
