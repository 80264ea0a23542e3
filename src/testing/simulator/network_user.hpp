// Whom the simulated network serves.
#pragma once

#include <cstdint>

#include <latchkey/backend.hpp>

namespace latchkey::sim {

/// Hears what became of requests, at the store and at the client.
class NetworkUser {
 public:
  /// `awaited`: the outcome may still reach whoever asked.
  virtual void applied(std::uint32_t client, const Request& request, const Outcome& outcome,
                       bool awaited) = 0;
  virtual void answered(std::uint32_t client, Request& request, Outcome outcome) = 0;
  virtual void notified(std::uint32_t client, const Notification& notification) = 0;
  /// Something went wrong with the link of `client` just now.
  virtual void troubled(std::uint32_t client) = 0;

 protected:
  ~NetworkUser() = default;
};

}  // namespace latchkey::sim
