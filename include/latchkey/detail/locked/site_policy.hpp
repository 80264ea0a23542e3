// The policy of one LOCKED at one site, and how a call finds it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/key_schema.hpp>
#include <latchkey/parsed_key.hpp>
#include <latchkey/policy.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

class Locks;

namespace detail {

/// Immutable. A published policy is never destroyed, so a call reads it without synchronisation and
/// may continue to use it after a reload.
struct SitePolicy {
  Policy over{};                ///< has precedence over the options in code
  Policy defaults{};            ///< for options that code does not set
  const BoundKeys* key{};       ///< null: LOCKED's own key
  const Locks* locks{};         ///< null: LOCKED's own Locks
  std::string_view key_text{};  ///< the text of `key` in the file, separated by commas

  /// The policy replaces LOCKED's own key: by another key, or by running without the lock.
  [[nodiscard]] bool says_key() const noexcept { return key != nullptr || over.unlocked; }

  friend bool operator==(const SitePolicy&, const SitePolicy&) noexcept = default;
};

/// The index of a LOCKED in the table of policies; 0: no policy applies to it. A call without a
/// policy reads nothing else.
using PolicySlot = std::atomic<std::uint32_t>;

/// The policies of one load, indexed by slot; null: none.
using PolicyTable = std::vector<const SitePolicy*>;

/// The policy in the current table; null: none.
[[nodiscard]] const SitePolicy* policy_at(std::uint32_t slot) noexcept;

/// Makes a table current for all calls that begin from now on, for all sites at once. Returns the
/// previous table; null: none. A table must never be destroyed.
const PolicyTable* publish_policies(const PolicyTable* table) noexcept;

/// The policies of a test, from `text` or else from the file (testing::ScopedPolicies). They are
/// never destroyed. Throws PolicyError. Thread-safe.
[[nodiscard]] const PolicyTable& policies_of_test(const std::string& file,
                                                  const std::optional<std::string>& text);

/// The kinds of SiteNote whose `facts` point to a LockedSite.
inline constexpr std::string_view lock_kind = "LOCKED";
inline constexpr std::string_view lock_by_kind = "LOCKED_BY";
/// The kind of SiteNote whose `facts` point to an OnceSite.
inline constexpr std::string_view once_kind = "LOCKED_ONCE_PER";

/// The facts of one LOCKED_ONCE_PER that are known before any call.
struct OnceSite {
  const char* said = "";       ///< as LockedSite::said
  mutable PolicySlot slot{0};  ///< written when policies are loaded
};

/// The Locks of a call of LOCKED_ONCE_PER: those of its rule, else `said`, else the default ones.
/// Throws NotConfigured.
[[nodiscard]] const Locks& locks_for(const OnceSite& site, const Locks* said);

/// The properties of a LOCKED and its body.
struct LockTraits {
  bool by_policy;         ///< LOCKED_BY: the note's text names the policy
  bool can_be_skipped;    ///< the result can express that the body did not run
  bool never_throws;      ///< no_throw() was called
  bool says_timeout;      ///< set in code, and not to raise
  bool says_unavailable;  ///< set in code, and not to raise
  bool for_scope;         ///< HERE: there is no body
  /// The strategies in code, "skip" for example; empty: none, or raise. They are known by their
  /// types before any call.
  const char* on_timeout = "";
  const char* on_unavailable = "";
  const char* on_lost = "";
  bool once = false;  ///< LOCKED_ONCE_PER: a rule can name its backend and nothing else
};

}  // namespace detail
}  // namespace latchkey::inline v1
#pragma GCC visibility pop
