// The state that the parts of a ConnectionMultiplexer share, and the mutexes that guard it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/mutex.hpp"
#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "redis/multiplexer/leader_followers.hpp"
#include "redis/routing/router.hpp"

namespace latchkey::inline v1::detail::redis {

/// A thread locks the mutexes in this order:
///
/// | order | mutex           | held while                                                       |
/// |-------|-----------------|------------------------------------------------------------------|
/// | 1     | write_mutex     | bytes are sent, or a transport is opened or closed               |
/// | 2     | mutex           | the multiplexer's state is used; never during a system call or a |
/// |       |                 | call of a sink                                                   |
/// | 3     | the TLS session | one call of OpenSSL                                              |
///
/// A transport changes only with both mutexes held, or with the write mutex and in a stage in which
/// nothing is sent. Only the leader reads from it.
struct MultiplexerState {
  explicit MultiplexerState(std::unique_ptr<Router> its_router) noexcept
      : router(std::move(its_router)) {}

  /// How many requests were answered, or a little less.
  [[nodiscard]] std::uint64_t answered() const noexcept LATCHKEY_REQUIRES(mutex) {
    return submitted - std::min<std::uint64_t>(submitted, router->outstanding());
  }

  SmallMutex write_mutex;
  mutable SmallMutex mutex;
  const std::unique_ptr<Router> router LATCHKEY_GUARDED_BY(mutex);
  LeaderFollowers threads LATCHKEY_GUARDED_BY(mutex);
  std::uint64_t submitted LATCHKEY_GUARDED_BY(mutex) = 0;  ///< requests
};

}  // namespace latchkey::inline v1::detail::redis
