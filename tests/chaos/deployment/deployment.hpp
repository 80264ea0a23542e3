// What workers lock on.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/faults/fault_plan.hpp"
#include "chaos/run/settings.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::chaos {

/// The servers of a campaign, and the faults of servers and keys. All calls come from the thread
/// that made it, because servers end with their thread.
class Deployment {
 public:
  Deployment() = default;
  Deployment(const Deployment&) = delete;
  Deployment& operator=(const Deployment&) = delete;
  virtual ~Deployment() = default;

  /// The servers; never empty. Links of workers lead to the first one.
  [[nodiscard]] virtual std::vector<const tests::RedisServer*> servers() const = 0;
  /// Where a worker locks whose link listens on `port`.
  [[nodiscard]] virtual std::string uri(std::uint16_t port) const = 0;
  /// The kinds of faults that it can have.
  [[nodiscard]] virtual bool has(FaultKind kind) const noexcept = 0;

  /// What the fault excuses, once it has ended: what its kind does, unless this deployment promises
  /// more or less.
  [[nodiscard]] virtual unsigned excuses(const PlannedFault& fault) const;
  /// A fault that nobody has planned, since the last call.
  virtual std::optional<FaultKind> surprise() { return std::nullopt; }
  /// Options::min_replicas of the workers.
  [[nodiscard]] virtual int min_replicas() const noexcept { return 0; }

  virtual void begin(const PlannedFault& fault) = 0;
  virtual void end(const PlannedFault& fault) = 0;

 protected:
  /// Throws std::runtime_error with the error of the server.
  static void send(const tests::RedisServer& server, std::initializer_list<std::string_view> words);
  /// The part of a fault that is the same on every server. Nothing, if there is no such part.
  static void begin_on(const tests::RedisServer& server, const PlannedFault& fault);
  static void end_on(const tests::RedisServer& server, const PlannedFault& fault);
  static void force_release(const std::string& uri, const PlannedFault& fault);
  /// The name of the key that the fault is done to.
  [[nodiscard]] static std::string key_of(const PlannedFault& fault);

 private:
  static void permit(const tests::RedisServer& server, const PlannedFault& fault, std::string rule);
};

std::unique_ptr<Deployment> make_deployment(DeploymentKind kind);

}  // namespace latchkey::chaos
