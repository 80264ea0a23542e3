// What a policy says of one LOCKED at one site, and how a call finds it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include <latchkey/key/parsed_key.hpp>
#include <latchkey/key/schema.hpp>
#include <latchkey/policy.hpp>

namespace latchkey {

class Locks;

namespace detail {

/// Immutable. One that was published is never destroyed, so a call reads it without any protection
/// and may go on with it after a reload.
struct SitePolicy {
  Policy over{};                ///< wins over what LOCKED says
  Policy defaults{};            ///< where LOCKED says nothing
  const BoundKey* key{};        ///< null: LOCKED's own
  const Locks* locks{};         ///< null: LOCKED's own
  std::string_view key_text{};  ///< of `key`, as the file says it

  /// LOCKED's own key does not count: the policy has one, or there is no lock.
  [[nodiscard]] bool says_key() const noexcept { return key != nullptr || over.unlocked; }

  friend bool operator==(const SitePolicy&, const SitePolicy&) noexcept = default;
};

/// The number of a LOCKED among those that a policy speaks of; 0: none does. That is all that a
/// call without a policy looks at.
using PolicySlot = std::atomic<std::uint32_t>;

/// The policies of one load by the numbers of their slots; null: none.
using PolicyTable = std::vector<const SitePolicy*>;

/// What the table that is in force says; null: nothing.
[[nodiscard]] const SitePolicy* policy_at(std::uint32_t slot) noexcept;

/// Puts a table in force for the calls that begin from now on, for all sites at once, and gives the
/// one before it; null: none. A table must never be destroyed.
const PolicyTable* publish_policies(const PolicyTable* table) noexcept;

/// One LOCKED of one site.
template <class Decorator, class Call, class Result>
inline constinit PolicySlot policy_slot{0};

/// The kinds of notes whose facts are LockFacts.
inline constexpr std::string_view lock_kind = "LOCKED";
inline constexpr std::string_view lock_by_kind = "LOCKED_BY";

/// What a policy is checked against, for each LOCKED of a site.
struct LockFacts {
  PolicySlot* slot;
  Schema arguments;
  bool by_policy;         ///< LOCKED_BY: the note's text names the policy
  bool can_be_skipped;    ///< "it did not happen" can be told from the result
  bool never_throws;      ///< no_throw() was said
  bool says_timeout;      ///< in code, and not raise
  bool says_unavailable;  ///< the same
  bool for_scope;         ///< HERE: there is no body
};

}  // namespace detail
}  // namespace latchkey
