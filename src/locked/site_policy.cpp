// How a call finds its policy, and what the policy changes.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/detail/locked/site_policy.hpp>

#include <optional>
#include <string>
#include <variant>

#include <latchkey/default_locks.hpp>
#include <latchkey/detail/locked/locked_call.hpp>
#include <latchkey/error.hpp>

#include "locks/coordinator/call.hpp"

namespace latchkey::inline v1::detail {
namespace {

constinit std::atomic<const PolicyTable*> in_force{nullptr};

/// The value with the highest precedence: the policy's, then LOCKED's (empty here), then the
/// defaults'.
template <class Word>
std::optional<Word> choose(const std::optional<Word>& over, bool said,
                           const std::optional<Word>& defaults) {
  if (over) return over;
  return said ? std::nullopt : defaults;
}

/// For a lock that cannot be kept the defaults do not count, nor does the code if it did not name
/// that type.
std::optional<std::chrono::milliseconds> cache_of(const LockTerms& terms, const LockTerms& said,
                                                  const SitePolicy& policy) {
  if (policy.over.shared_with_redisson) return std::chrono::milliseconds(0);
  if (policy.over.cache) return policy.over.cache;
  const auto in_code = said.lease.cache();
  if (can_be_kept(terms.type)) return in_code ? in_code : policy.defaults.cache;
  return terms.type == said.type ? in_code : std::nullopt;
}

}  // namespace

const SitePolicy* policy_at(std::uint32_t slot) noexcept {
  const PolicyTable* const table = in_force.load(std::memory_order_acquire);
  return table != nullptr && slot < table->size() ? (*table)[slot] : nullptr;
}

const PolicyTable* publish_policies(const PolicyTable* table) noexcept {
  return in_force.exchange(table, std::memory_order_acq_rel);
}

LockTerms under_policy(const LockTerms& said, const SitePolicy& policy) noexcept {
  const Policy& over = policy.over;
  const Policy& defaults = policy.defaults;
  LockTerms terms = said;
  if (const auto type = choose(over.type, said.says_type, defaults.type)) terms.type = *type;
  if (over.permits) terms.permits.total = *over.permits;
  if (const auto wait = choose(over.wait, said.says_wait, defaults.wait)) terms.wait = *wait;
  if (const auto lease = choose(over.lease, said.says_lease, defaults.lease)) terms.lease = *lease;
  const std::chrono::milliseconds in_code = said.lease.held_at_most();
  const auto limit = choose(over.held_at_most, in_code.count() != 0, defaults.held_at_most);
  terms.lease = limit_lease(terms.lease, limit.value_or(in_code));
  const std::chrono::milliseconds said_delay = said.lease.lock_delay();
  const auto delay = choose(over.lock_delay, said_delay.count() != 0, defaults.lock_delay);
  terms.lease = delay_lease(terms.lease, delay.value_or(said_delay));
  terms.lease = cache_lease(terms.lease, cache_of(terms, said, policy));
  if (const auto time = choose(over.hold_for, said.says_hold_for, defaults.hold_for)) {
    terms.hold_for = *time;
  }
  if (const auto lost = choose(over.on_lost, said.says_lost, defaults.on_lost)) {
    terms.raises_loss = std::holds_alternative<strategy::Raise>(*lost);
  }
  if (const auto unconfirmed = choose(over.on_unconfirmed_release, said.says_unconfirmed,
                                      defaults.on_unconfirmed_release)) {
    terms.raises_unconfirmed = std::holds_alternative<strategy::Raise>(*unconfirmed);
  }
  if (const auto timeout = choose(over.on_timeout, said.says_timeout, defaults.on_timeout)) {
    terms.raises_timeout = std::holds_alternative<strategy::Raise>(*timeout);
    terms.skips_timeout = std::holds_alternative<strategy::Skip>(*timeout);
    terms.runs_unlocked = std::holds_alternative<strategy::RunUnlocked>(*timeout);
  }
  if (const auto nobody =
          choose(over.on_unavailable, said.says_unavailable, defaults.on_unavailable)) {
    terms.raises_unavailable = std::holds_alternative<strategy::Raise>(*nobody);
    terms.skips_unavailable = std::holds_alternative<strategy::Skip>(*nobody);
  }
  terms.unlocked = over.unlocked;
  terms.fenced = said.fenced || over.fenced;
  return terms;
}

const SitePolicy* LockedCall::take(std::uint32_t slot) noexcept {
  const SitePolicy* const policy = policy_at(slot);
  if (policy == nullptr) return nullptr;
  changed_ = under_policy(*terms_, *policy);
  terms_ = &changed_;
  if (policy->key != nullptr) origin_.key_template = policy->key_text;
  if (policy->locks != nullptr) {
    const Locks* const scoped = overriding_locks();
    locks_ = scoped != nullptr ? scoped : policy->locks;
  }
  return policy;
}

const Locks& locks_for(const OnceSite& site, const Locks* said) {
  const SitePolicy* const policy = policy_at(site.slot.load(std::memory_order_relaxed));
  if (policy != nullptr && policy->locks != nullptr) {
    const Locks* const scoped = overriding_locks();
    return scoped != nullptr ? *scoped : *policy->locks;
  }
  return said != nullptr ? *said : default_locks();
}

void throw_not_configured(std::string_view policy) {
  throw NotConfigured(
      "LOCKED_BY(\"" + std::string(policy) +
      "\") takes everything from a policy, and none of this name is loaded: write "
      "latchkey::install_from(\"latchkey.yaml\") at the start of main, with '" +
      std::string(policy) +
      "' among the policies of that file, or latchkey::testing::ScopedPolicies in a "
      "test");
}

}  // namespace latchkey::inline v1::detail
