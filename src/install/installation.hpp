// The backends and the policies of one file, in force.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <latchkey/detail/locked/site_policy.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/options.hpp>
#include <latchkey/parsed_key.hpp>

#include "install/policy_load.hpp"

namespace latchkey::inline v1::detail {

/// Never destroyed once its policies were in force, because calls may read them at any time. It
/// grows with the number of different policies that were ever loaded, not with the number of loads:
/// equal policies are one object.
class Installation {
 public:
  /// Reads, checks and connects. Throws PolicyError with all mistakes; nothing is in force yet.
  Installation(std::string path, const Options& options);
  /// Policies for a test, without backends.
  explicit Installation(LoadedPolicies loaded);
  Installation(const Installation&) = delete;
  Installation& operator=(const Installation&) = delete;
  ~Installation() = default;

  [[nodiscard]] const Locks& default_locks() const noexcept { return *default_; }

  [[nodiscard]] const PolicyTable& table() const noexcept { return *table_; }

  /// Returns the table that was in force before.
  const PolicyTable* publish() noexcept { return publish_policies(table_); }

  /// Reports the methods that may run without their lock to the listener.
  void warn() const;

  /// Reads the file again and puts it in force. Throws PolicyError and changes nothing. Not
  /// thread-safe.
  void reload();

 private:
  /// The settings that select the lock of a LOCKED. They stay as they were first loaded.
  struct Guard {
    std::optional<std::string> key{};
    std::optional<std::string> backend{};
    std::optional<LockType> type{};
    std::unique_ptr<const BoundKeys> bound{};
    std::string method{};
  };

  void connect(LoadedPolicies& loaded);
  void check_leases(const PolicyPlan& plan) const;
  void check_tokens(const PolicyPlan& plan) const;
  void adopt(LoadedPolicies& loaded);
  const SitePolicy* keep(const SitePolicy& policy);
  void refuse_other_guards(const LoadedPolicies& now, Problems& problems) const;

  std::string path_;
  Options options_;
  std::map<std::string, Locks> locks_{};
  const Locks* default_ = nullptr;
  std::map<const PolicySlot*, Guard> guards_{};
  std::deque<SitePolicy> policies_{};  ///< each once; calls refer to them
  std::set<PolicyTable> tables_{};
  const PolicyTable* table_ = nullptr;
  PolicyFile file_{};
  std::vector<std::string> without_lock_{};
};

}  // namespace latchkey::inline v1::detail
