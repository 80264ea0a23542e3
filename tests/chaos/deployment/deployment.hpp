// The servers that workers lock on.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <latchkey/lock_type.hpp>

#include "chaos/faults/fault_plan.hpp"
#include "chaos/history.hpp"
#include "chaos/run/settings.hpp"
#include "chaos/worker/lock_source.hpp"

namespace latchkey::chaos {

/// The servers of a campaign, and the faults of servers and keys. All calls come from the thread
/// that made it, because servers end with their thread.
class Deployment {
 public:
  Deployment() = default;
  Deployment(const Deployment&) = delete;
  Deployment& operator=(const Deployment&) = delete;
  virtual ~Deployment() = default;

  /// The port of the server to which the links of workers lead.
  [[nodiscard]] virtual std::uint16_t link_port() const = 0;
  /// Where a worker locks whose link listens on `port`.
  [[nodiscard]] virtual std::string uri(std::uint16_t port) const = 0;
  /// The kinds of faults that it can have.
  [[nodiscard]] virtual bool has(FaultKind kind) const noexcept = 0;
  /// The lock types that it offers. Workers ask for REENTRANT instead of another one.
  [[nodiscard]] virtual bool offers(LockType type) const noexcept = 0;
  /// The bounds that the judge may expect this deployment to keep.
  [[nodiscard]] virtual Limits limits() const { return {}; }
  /// Every token of a run is larger.
  [[nodiscard]] virtual std::uint64_t first_token() const { return 0; }

  /// Returns the Excuse mask of a fault that has ended: that of its kind, unless this deployment
  /// promises more or less.
  [[nodiscard]] virtual unsigned excuses(const PlannedFault& fault) const {
    return traits(fault.kind).excuses;
  }
  /// A fault that nobody has planned, since the last call.
  virtual std::optional<FaultKind> surprise() { return std::nullopt; }
  /// Whether the fault can be done to that worker or key. `has` its kind.
  [[nodiscard]] virtual bool suits(const PlannedFault& /*fault*/) const noexcept { return true; }
  /// The kind of client with which `worker` locks.
  [[nodiscard]] virtual WorkerKind worker_kind(std::uint32_t worker) const noexcept {
    return worker == 1 ? WorkerKind::coroutines : WorkerKind::threads;
  }

  virtual void begin(const PlannedFault& fault) = 0;
  virtual void end(const PlannedFault& fault) = 0;

  /// Asks the holders of the key to release it. Returns how many Locks were told; -1: it is not
  /// known. Only if it `has` that kind.
  [[nodiscard]] int revoke(const PlannedFault& fault) const;
  /// Whether the server tells holders that somebody has changed their key.
  [[nodiscard]] bool tells_of_changes() const;

  /// Names the keys that are stored although nobody calls; empty: none. `abandoned`: a fault may
  /// have left waiters' places, which expire later.
  [[nodiscard]] virtual std::string keys_left(bool abandoned) const = 0;
  [[nodiscard]] virtual std::string subscriptions_left() const { return {}; }
  /// Copies the logs of the servers to `folder`.
  virtual void save_logs(const std::filesystem::path& folder) const = 0;

 protected:
  /// Microseconds since 1970.
  [[nodiscard]] static std::uint64_t token_of_now();
  static void force_release(const std::string& uri, const PlannedFault& fault);
  /// The name of the key that the fault is done to.
  [[nodiscard]] static std::string key_of(const PlannedFault& fault);
};

std::unique_ptr<Deployment> make_deployment(DeploymentKind kind);

}  // namespace latchkey::chaos
