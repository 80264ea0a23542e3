// Policy files for the methods of another language.
// SPDX-License-Identifier: BSL-1.0
#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "c/acquire_request.hpp"
#include "c/errors.hpp"
#include "c/handles.hpp"
#include "core/text/nearest.hpp"
#include "install/policy_layers.hpp"
#include "install/policy_load.hpp"
#include "install/rule_match.hpp"
#include "policy/secrets.hpp"

struct latchkey_policies {
  std::string path;
  latchkey::detail::PolicyFile file;
};

namespace latchkey::inline v1::detail::c {
namespace {

/// A policy with the texts that it refers to.
struct OwnedPolicy : latchkey_policy {
  std::vector<std::string> key_texts{};
  std::vector<const char*> key_pointers{};
  std::string backend_name{};
};

latchkey_type number_of(LockType type) noexcept {
  switch (type) {
    case LockType::REENTRANT: return LATCHKEY_REENTRANT;
    case LockType::FAIR: return LATCHKEY_FAIR;
    case LockType::READ: return LATCHKEY_READ;
    case LockType::WRITE: return LATCHKEY_WRITE;
    case LockType::FENCED: return LATCHKEY_FENCED;
    case LockType::PERMIT: return LATCHKEY_PERMIT;
  }
  return LATCHKEY_TYPE_UNSET;
}

std::int64_t number_of(Wait wait) noexcept {
  return wait.is_forever() ? LATCHKEY_FOREVER : wait.length().count();
}
std::int64_t number_of(Lease lease) noexcept {
  return lease.is_watchdog() ? LATCHKEY_WATCHDOG
                             : lease.length(std::chrono::milliseconds(0)).count();
}
std::int64_t number_of(std::chrono::milliseconds time) noexcept { return time.count(); }
std::int64_t number_of(std::uint32_t count) noexcept { return count; }

template <class... Strategies>
latchkey_strategy number_of(const std::variant<Strategies...>& chosen) noexcept {
  const auto number = [](const auto& strategy) {
    using Chosen = std::remove_cvref_t<decltype(strategy)>;
    if constexpr (std::is_same_v<Chosen, strategy::Skip>) return LATCHKEY_SKIP;
    if constexpr (std::is_same_v<Chosen, strategy::RunUnlocked>) return LATCHKEY_RUN_UNLOCKED;
    if constexpr (std::is_same_v<Chosen, strategy::Report>) return LATCHKEY_REPORT;
    return LATCHKEY_RAISE;
  };
  return std::visit(number, chosen);
}

/// Settings of one precedence after the other: one that is set is not changed any more.
class Merge {
 public:
  explicit Merge(latchkey_policy& into) noexcept : into_(into) {}

  void add(const Policy& policy) noexcept {
    latchkey_request& request = into_.request;
    set(request.total, policy.permits);
    if (request.type == LATCHKEY_TYPE_UNSET && policy.type) request.type = number_of(*policy.type);
    set(request.wait_ms, policy.wait);
    set(request.lease_ms, policy.lease);
    set(request.hold_for_ms, policy.hold_for);
    set(request.held_at_most_ms, policy.held_at_most);
    set(request.lock_delay_ms, policy.lock_delay);
    if (policy.shared_with_redisson) set(request.cache_ms, 0);
    set(request.cache_ms, policy.cache);
    if (policy.fenced) request.fenced = 1;
    set(into_.on_timeout, policy.on_timeout);
    set(into_.on_unavailable, policy.on_unavailable);
    set(into_.on_lost, policy.on_lost);
    set(into_.on_unconfirmed_release, policy.on_unconfirmed_release);
    if (policy.unlocked) into_.unlocked = 1;
  }

  /// Their cache does not count for a lock that cannot be kept (Lease::cache).
  void add_defaults(const Policy& defaults) noexcept {
    latchkey_request& request = into_.request;
    const bool says_cache = is_set(request.cache_ms);
    add(defaults);
    const bool is_kept =
        request.type != LATCHKEY_FAIR && request.type != LATCHKEY_PERMIT && !is_set(request.total);
    if (!says_cache && !is_kept) request.cache_ms = LATCHKEY_UNSET;
  }

  void add(const latchkey_policy& code) noexcept {
    latchkey_request& request = into_.request;
    const latchkey_request& its = code.request;
    set(request.total, its.total);
    set(request.permits, its.permits);
    if (request.type == LATCHKEY_TYPE_UNSET) request.type = its.type;
    set(request.wait_ms, its.wait_ms);
    set(request.lease_ms, its.lease_ms);
    set(request.hold_for_ms, its.hold_for_ms);
    set(request.held_at_most_ms, its.held_at_most_ms);
    set(request.lock_delay_ms, its.lock_delay_ms);
    set(request.cache_ms, its.cache_ms);
    if (its.fenced != 0) request.fenced = 1;
    set(into_.on_timeout, code.on_timeout);
    set(into_.on_unavailable, code.on_unavailable);
    set(into_.on_lost, code.on_lost);
    set(into_.on_unconfirmed_release, code.on_unconfirmed_release);
    if (code.unlocked != 0) into_.unlocked = 1;
  }

 private:
  static void set(std::int64_t& setting, std::int64_t value) noexcept {
    if (!is_set(setting)) setting = value;
  }
  template <class T>
  static void set(std::int64_t& setting, const std::optional<T>& value) noexcept {
    if (value) set(setting, number_of(*value));
  }
  static void set(latchkey_strategy& setting, latchkey_strategy value) noexcept {
    if (setting == LATCHKEY_STRATEGY_UNSET) setting = value;
  }
  template <class T>
  static void set(latchkey_strategy& setting, const std::optional<T>& value) noexcept {
    if (value) set(setting, number_of(*value));
  }

  latchkey_policy& into_;
};

/// The rule that names the method; null: none does.
const Rule* rule_of(const latchkey_policies& policies, const std::string& method) {
  Program program;
  program.is_whole = false;
  LockPlace place;
  place.name = place.method = place.where = method;
  program.places.push_back(std::move(place));
  Problems problems;
  const Rule* const rule = match_rules(policies.file.rules, program, problems).front();
  throw_problems(policies.path, std::move(problems));
  return rule;
}

const NamedPolicy& policy_named(const latchkey_policies& policies, const std::string& name) {
  if (const NamedPolicy* const found = policies.file.find_policy(name)) return *found;
  std::vector<std::string_view> right;
  right.reserve(policies.file.policies.size());
  for (const NamedPolicy& each : policies.file.policies) right.push_back(each.name.value);
  const Place at = policies.file.policies_at;
  throw PolicyError(policies.path, at.line, at.column,
                    "unknown policy " + quoted_word(name) + nearest_words(name, right));
}

std::unique_ptr<OwnedPolicy> merged_policy(const latchkey_policies& policies,
                                           const std::string& method, const char* policy,
                                           const latchkey_policy* code) {
  if (code != nullptr) {
    require_size(code->request.size, sizeof code->request, "latchkey_policy's request");
  }
  Layers layers;
  if (const Rule* const rule = rule_of(policies, method)) {
    layers.all.push_back(&rule->settings);
    if (rule->settings.policy) {
      layers.all.push_back(&policy_named(policies, rule->settings.policy->value).settings);
    }
  }
  if (policy != nullptr) layers.all.push_back(&policy_named(policies, policy).settings);
  auto found = std::make_unique<OwnedPolicy>();
  static_cast<latchkey_policy&>(*found) = LATCHKEY_POLICY_INIT;
  Merge merge(*found);
  merge.add(policy_of(layers));
  if (code != nullptr) merge.add(*code);
  merge.add_defaults(policy_of({{&policies.file.defaults}}));
  if (const auto keys = layers.find(&PolicySettings::key)) {
    for (const Located<std::string>& key : keys->value.all) found->key_texts.push_back(key.value);
    for (const std::string& key : found->key_texts) found->key_pointers.push_back(key.c_str());
    found->keys = found->key_pointers.data();
    found->key_count = found->key_pointers.size();
  } else if (policy != nullptr && found->unlocked == 0) {
    const Place at = policy_named(policies, policy).name.at;
    throw PolicyError(
        policies.path, at.line, at.column,
        "the policy " + quoted_word(policy) + " has no key, which " + method + " needs");
  }
  if (const auto backend = layers.find(&PolicySettings::backend)) {
    found->backend_name = backend->value;
    found->backend = found->backend_name.c_str();
  }
  return found;
}

const BackendEntry& backend_named(const latchkey_policies& policies, const char* name) {
  const PolicyFile& file = policies.file;
  const BackendEntry* const found =
      name == nullptr ? file.default_backend() : file.find_backend(name);
  if (found != nullptr) return *found;
  if (name == nullptr) {
    throw PolicyError(policies.path, 0, 0,
                      "the file names several backends and no default: write backend: below them");
  }
  std::vector<std::string_view> right;
  right.reserve(file.backends.size());
  for (const BackendEntry& each : file.backends) right.push_back(each.name.value);
  throw PolicyError(policies.path, 0, 0,
                    "unknown backend " + quoted_word(name) + nearest_words(name, right));
}

// A malformed URI is shown without what came from the environment.
Locks open(const latchkey_policies& policies, const char* name, const latchkey_options* given) {
  const BackendEntry& backend = backend_named(policies, name);
  Options options = options_of(given);
  if (policies.file.prefix) options.prefix = policies.file.prefix->value;
  try {
    return Locks::connect(backend.uri.value, options);
  } catch (const std::invalid_argument& error) {
    throw PolicyError(policies.path, backend.uri.at.line, backend.uri.at.column,
                      without_secrets(error.what(), backend.secrets));
  }
}

}  // namespace
}  // namespace latchkey::inline v1::detail::c

using latchkey::detail::c::guarded;
using latchkey::detail::c::OwnedPolicy;

latchkey_policies* latchkey_policies_read(const char* file, latchkey_error** error) noexcept {
  return guarded<latchkey_policies*>(error, nullptr, [&] {
    if (file == nullptr) throw std::invalid_argument("the name of the policy file is NULL");
    latchkey::detail::LoadedPolicies loaded = latchkey::detail::load_policies(file);
    latchkey::detail::throw_problems(file, std::move(loaded.problems));
    return std::make_unique<latchkey_policies>(latchkey_policies{file, std::move(loaded.file)})
        .release();
  });
}

latchkey_locks* latchkey_policies_open(const latchkey_policies* policies, const char* backend,
                                       const latchkey_options* options,
                                       latchkey_error** error) noexcept {
  return guarded<latchkey_locks*>(error, nullptr, [&] {
    auto made = std::make_unique<latchkey_locks>(
        latchkey_locks{latchkey::detail::c::open(*policies, backend, options)});
    return made.release();
  });
}

latchkey_policy* latchkey_policies_find(const latchkey_policies* policies, const char* method,
                                        const char* policy, const latchkey_policy* code,
                                        latchkey_error** error) noexcept {
  return guarded<latchkey_policy*>(error, nullptr, [&] {
    if (method == nullptr) throw std::invalid_argument("the name of the method is NULL");
    return latchkey::detail::c::merged_policy(*policies, method, policy, code).release();
  });
}

void latchkey_policy_free(latchkey_policy* policy) noexcept {
  delete static_cast<OwnedPolicy*>(policy);
}

void latchkey_policies_free(latchkey_policies* policies) noexcept { delete policies; }
