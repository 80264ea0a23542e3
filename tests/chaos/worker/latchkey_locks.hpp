// What workers of latchkey have in common: their options and what a request asks for.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <string>

#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>

#include "chaos/worker/lock_source.hpp"

namespace latchkey::chaos {

Locks connect_worker(const std::string& uri, int min_replicas);

/// As a thread does, which waits itself. Null: busy.
std::unique_ptr<HeldLock> acquire_blocking(const Locks& locks, const Request& request);
/// The same with Locks of its own, while no thread can be made.
std::unique_ptr<HeldLock> acquire_without_threads(const std::string& uri, int min_replicas,
                                                  const Request& request);

}  // namespace latchkey::chaos
