// The names of the keys that workers lock.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <string_view>

#include "chaos/worker/shared_state.hpp"

namespace latchkey::chaos {

/// By number. Four pairs are names that a store could take for one, or for a part of the other:
///
/// | keys | what their names have in common                                               |
/// |------|-------------------------------------------------------------------------------|
/// | 1, 6 | in ZooKeeper and etcd, a folder, in which 6 looks like an entry of the queue  |
/// | 2, 5 | in Redis, the channels and Redisson's leases of READs                         |
/// | 3, 4 | in Redis, the channels and the queue of FAIR                                  |
/// | 7, 8 | in Redis, 7 is the hash tag of the second key of the semaphore 8              |
inline constexpr std::array<std::string_view, key_count> key_names{"chaos:0",
                                                                   "chaos:1",
                                                                   "chaos:2",
                                                                   "chaos:3",
                                                                   "{chaos:3}",
                                                                   "{chaos:2}",
                                                                   "chaos:1/x-lock-0000000000",
                                                                   "{chaos:8}",
                                                                   "chaos:8"};

}  // namespace latchkey::chaos
