// The receiver of what the simulated network delivers.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <latchkey/backend.hpp>

namespace latchkey::inline v1::sim {

class NetworkHandler {
 public:
  /// The store carried `request` out. `awaited`: its outcome may still reach the client.
  virtual void applied(std::uint32_t client, const Request& request, const Outcome& outcome,
                       bool awaited) = 0;
  /// The store granted a lock to a client that waits in line, who may be notified of it.
  virtual void granted(std::uint32_t client, const Notification& notification) = 0;
  /// The client learns the outcome of its request.
  virtual void answered(std::uint32_t client, Request& request, Outcome outcome) = 0;
  virtual void notified(std::uint32_t client, const Notification& notification) = 0;
  /// The network delayed, lost or refused something of this client just now.
  virtual void disturbed(std::uint32_t client) = 0;

 protected:
  ~NetworkHandler() = default;
};

}  // namespace latchkey::inline v1::sim
