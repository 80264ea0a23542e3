// A quorum of three Redis servers.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <vector>

#include "chaos/deployment/redis/single_server.hpp"

namespace latchkey::chaos {

/// The single server with all its faults, and two more. One of the three is away for a minute in
/// some rounds, in which nothing else happens; in the others, nothing happens to the two. A quorum
/// survives a minority that is away, so the judge excuses no loss and no refusal then. While the
/// first server does not reply, a reply of another one may come too late on a busy machine: the
/// judge excuses that a call does not know its outcome. A grant that one of the two gave too late
/// depends on the first server, so the judge excuses a loss if that one forgets. A quorum revokes
/// nothing, and is told of no change.
class Quorum final : public SingleServer {
 public:
  Quorum();

  [[nodiscard]] std::vector<const tests::RedisServer*> servers() const override;
  [[nodiscard]] std::string uri(std::uint16_t port) const override;
  [[nodiscard]] bool offers(LockType type) const noexcept override;
  /// A quorum has no queue: docs/guarantees.md.
  [[nodiscard]] Limits limits() const override {
    return {.process_queue = false, .turns = false, .hasty = true};
  }
  [[nodiscard]] unsigned excuses(const PlannedFault& fault) const override;
  [[nodiscard]] bool has(FaultKind kind) const noexcept override {
    return is_of_member(kind) || (SingleServer::has(kind) && !is_of_holder(kind));
  }
  void begin(const PlannedFault& fault) override;
  void end(const PlannedFault& fault) override;

 private:
  [[nodiscard]] tests::RedisServer& member(const PlannedFault& fault) noexcept;

  tests::RedisServer second_, third_;
};

}  // namespace latchkey::chaos
