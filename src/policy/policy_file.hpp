// latchkey.yaml as it was written: every value with its place.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/policy.hpp>

namespace latchkey::inline v1::detail {

/// Lines and columns count from 1; 0: the file has no such place.
struct Place {
  int line = 0;
  int column = 0;
};

/// A value and its position in the file.
template <class T>
struct Located {
  T value;
  Place at{};
};
template <class T>
using Perhaps = std::optional<Located<T>>;

/// One mistake.
struct Problem {
  Place at{};
  std::string sentence{};
};
using Problems = std::vector<Problem>;

/// The keys that a policy gives one lock: a text, or a list of texts.
struct KeyTexts {
  std::vector<Located<std::string>> all{};

  /// Separated by commas, as LOCKED(KEYS(...)) shows them.
  [[nodiscard]] std::string shown() const {
    std::string text;
    for (const Located<std::string>& each : all) text += (text.empty() ? "" : ", ") + each.value;
    return text;
  }
};

/// The only value of `fenced`.
enum class Fenced : std::uint8_t { yes };

/// The only value of `shared_with`: clients that get nothing from a lock that is kept.
enum class SharedWith : std::uint8_t { redisson };

/// The settings of defaults, of a named policy or of a rule.
struct PolicySettings {
  Perhaps<KeyTexts> key{};
  Perhaps<std::string> policy{};  ///< a rule's: everything else from that named policy
  Perhaps<std::string> backend{};
  Perhaps<LockType> type{};
  Perhaps<std::uint32_t> permits{};
  Perhaps<Wait> wait{};
  Perhaps<Lease> lease{};
  Perhaps<std::chrono::milliseconds> hold_for{};
  Perhaps<std::chrono::milliseconds> held_at_most{};
  Perhaps<std::chrono::milliseconds> lock_delay{};
  Perhaps<std::chrono::milliseconds> cache{};
  Perhaps<SharedWith> shared_with{};
  Perhaps<Policy::OnTimeout> on_timeout{};
  Perhaps<Policy::OnUnavailable> on_unavailable{};
  Perhaps<Policy::OnLost> on_lost{};
  Perhaps<Policy::OnLost> on_unconfirmed_release{};
  Perhaps<bool> unlocked{};
  Perhaps<Fenced> fenced{};
  bool key_is_wrong = false;  ///< there was one, and its mistake has been reported
};

/// A part of a URI that came from the environment. It never appears in messages.
struct Secret {
  std::string name;
  std::string value;
};

struct BackendEntry {
  Located<std::string> name{};
  Located<std::string> uri{};  ///< with its secrets
  std::vector<Secret> secrets{};
};

struct NamedPolicy {
  Located<std::string> name{};
  PolicySettings settings{};
};

struct Rule {
  Located<std::string> pattern{};
  PolicySettings settings{};
};

struct PolicyFile {
  std::vector<BackendEntry> backends{};
  Perhaps<std::string> backend{};  ///< the default one
  Perhaps<std::string> prefix{};
  PolicySettings defaults{};
  std::vector<NamedPolicy> policies{};
  std::vector<Rule> rules{};
  Place policies_at{};
  Place rules_at{};

  [[nodiscard]] const NamedPolicy* find_policy(const std::string& name) const {
    for (const NamedPolicy& policy : policies) {
      if (policy.name.value == name) return &policy;
    }
    return nullptr;
  }
  [[nodiscard]] const BackendEntry* find_backend(const std::string& name) const {
    for (const BackendEntry& entry : backends) {
      if (entry.name.value == name) return &entry;
    }
    return nullptr;
  }
  /// The backend of calls that name none: the one that `backend:` names, or the only one. Null if
  /// there is none.
  [[nodiscard]] const BackendEntry* default_backend() const {
    if (backend) return find_backend(backend->value);
    return backends.size() == 1 ? &backends.front() : nullptr;
  }
};

}  // namespace latchkey::inline v1::detail
