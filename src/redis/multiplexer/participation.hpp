// One call of ConnectionMultiplexer::drive.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <latchkey/parker.hpp>

#include "core/mutex.hpp"
#include "core/thread_annotations.hpp"
#include "redis/multiplexer/connection_multiplexer.hpp"

namespace latchkey::inline v1::detail::redis {

/// The calling thread takes part in leader/followers while this lives. It holds the multiplexer's
/// mutex meanwhile, except during system calls and calls of sinks, and passes leadership on in the
/// end.
class LATCHKEY_SCOPED_CAPABILITY ConnectionMultiplexer::Participation {
  ConnectionMultiplexer& multiplexer_;
  ScopedLock<SmallMutex> lock_;

 public:
  Participation(ConnectionMultiplexer& multiplexer, Parker& parker, std::uint64_t last_request)
      LATCHKEY_ACQUIRE(multiplexer.state_.mutex);
  Participation(const Participation&) = delete;
  Participation& operator=(const Participation&) = delete;
  ~Participation() LATCHKEY_RELEASE();

  WaitingThread thread;
  bool has_spun = false;   ///< a thread spins once at most
  bool delivered = false;  ///< it called sinks, and leaves
};

}  // namespace latchkey::inline v1::detail::redis
