// Every key of latchkey.yaml. The reader accepts these, and the schema and the documentation list
// them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <latchkey/policy.hpp>

#include "policy/policy_file.hpp"

namespace latchkey::inline v1::detail {

inline constexpr std::array<std::string_view, 6> sections{"backends", "backend",  "prefix",
                                                          "defaults", "policies", "rules"};

inline constexpr std::string_view endless_wait = "forever";
inline constexpr std::string_view endless_lease = "watchdog";
inline constexpr std::string_view learned_cache = "adaptive";  ///< adaptive_cache

/// Says what is wrong with `held_at_most` beside these times, if they are set; empty: nothing is.
[[nodiscard]] inline std::string held_at_most_mistake(
    std::chrono::milliseconds held_at_most, const Perhaps<Lease>& lease,
    const Perhaps<std::chrono::milliseconds>& hold_for) {
  if (lease && lease->value.length(std::chrono::milliseconds(0)) > held_at_most) {
    return "'held_at_most' is shorter than the lease; expected a shorter lease, or 'watchdog'";
  }
  const bool ends_early = hold_for && hold_for->value > held_at_most;
  return ends_early ? "'held_at_most' is shorter than 'hold_for'; expected a longer time" : "";
}

/// Says that a lock of `type` is not kept after its release.
[[nodiscard]] inline std::string no_cache_mistake(LockType type) {
  return "'cache' does not fit " + std::string(to_string(type)) +
         "; expected it with another type, or none";
}

/// Says that a lock of `type` has no fencing token.
[[nodiscard]] inline std::string no_token_mistake(LockType type) {
  return "'fenced' does not fit " + std::string(to_string(type)) +
         ", which several owners hold at a time; expected it where the WRITE is taken";
}

template <class Value, std::size_t N>
using Names = std::array<std::pair<std::string_view, Value>, N>;

inline constexpr Names<LockType, 5> type_names{{{"REENTRANT", LockType::REENTRANT},
                                                {"FAIR", LockType::FAIR},
                                                {"READ", LockType::READ},
                                                {"WRITE", LockType::WRITE},
                                                {"FENCED", LockType::FENCED}}};
inline constexpr Names<Policy::OnTimeout, 3> on_timeout_names{
    {{"raise", strategy::raise},
     {"skip", strategy::skip},
     {"run_unlocked_dangerously", strategy::run_unlocked_dangerously}}};
inline constexpr Names<Policy::OnUnavailable, 2> on_unavailable_names{
    {{"raise", strategy::raise}, {"skip", strategy::skip}}};
inline constexpr Names<Policy::OnLost, 2> on_lost_names{
    {{"raise", strategy::raise}, {"report", strategy::report}}};
inline constexpr Names<bool, 1> unlocked_names{{{"dangerously", true}}};
inline constexpr Names<Fenced, 1> fenced_names{{{"true", Fenced::yes}}};
inline constexpr Names<SharedWith, 1> shared_with_names{{{"redisson", SharedWith::redisson}}};

/// The spellings of a value that has a fixed set of them.
template <class Value>
struct Spellings;
template <>
struct Spellings<LockType> {
  static constexpr const auto& names = type_names;
};
template <>
struct Spellings<Policy::OnTimeout> {
  static constexpr const auto& names = on_timeout_names;
};
template <>
struct Spellings<Policy::OnUnavailable> {
  static constexpr const auto& names = on_unavailable_names;
};
template <>
struct Spellings<Policy::OnLost> {
  static constexpr const auto& names = on_lost_names;
};
template <>
struct Spellings<bool> {
  static constexpr const auto& names = unlocked_names;
};
template <>
struct Spellings<Fenced> {
  static constexpr const auto& names = fenced_names;
};
template <>
struct Spellings<SharedWith> {
  static constexpr const auto& names = shared_with_names;
};

/// Where the value of a setting is stored: as the file says it, and in the policy of a lock. The
/// second is null for a setting that selects the lock or the policy.
template <class Type>
struct SettingMember {
  using Value = Type;
  Perhaps<Value> PolicySettings::* said;
  std::optional<Value> Policy::* merged = nullptr;
};

/// One setting of a policy and where it may stand.
struct PolicySetting {
  std::string_view name;
  bool in_defaults;
  bool in_policies;
  bool in_rules;
  std::variant<SettingMember<std::string>, SettingMember<KeyTexts>, SettingMember<LockType>,
               SettingMember<Wait>, SettingMember<Lease>, SettingMember<std::chrono::milliseconds>,
               SettingMember<Policy::OnTimeout>, SettingMember<Policy::OnUnavailable>,
               SettingMember<Policy::OnLost>, SettingMember<bool>, SettingMember<Fenced>,
               SettingMember<std::uint32_t>, SettingMember<SharedWith>>
      member;
};

/// The one list of the settings: reader, merge, `latchkey check`, schema and documentation use it.
inline constexpr std::array policy_settings{
    PolicySetting{"policy", false, false, true,
                  SettingMember<std::string>{&PolicySettings::policy}},
    PolicySetting{"key", false, true, true, SettingMember<KeyTexts>{&PolicySettings::key}},
    PolicySetting{"type", true, true, true,
                  SettingMember<LockType>{&PolicySettings::type, &Policy::type}},
    PolicySetting{"fenced", false, true, true, SettingMember<Fenced>{&PolicySettings::fenced}},
    PolicySetting{"permits", false, true, true,
                  SettingMember<std::uint32_t>{&PolicySettings::permits, &Policy::permits}},
    PolicySetting{"wait", true, true, true,
                  SettingMember<Wait>{&PolicySettings::wait, &Policy::wait}},
    PolicySetting{"lease", true, true, true,
                  SettingMember<Lease>{&PolicySettings::lease, &Policy::lease}},
    PolicySetting{
        "hold_for", true, true, true,
        SettingMember<std::chrono::milliseconds>{&PolicySettings::hold_for, &Policy::hold_for}},
    PolicySetting{"held_at_most", true, true, true,
                  SettingMember<std::chrono::milliseconds>{&PolicySettings::held_at_most,
                                                           &Policy::held_at_most}},
    PolicySetting{
        "lock_delay", true, true, true,
        SettingMember<std::chrono::milliseconds>{&PolicySettings::lock_delay, &Policy::lock_delay}},
    PolicySetting{"cache", true, true, true,
                  SettingMember<std::chrono::milliseconds>{&PolicySettings::cache, &Policy::cache}},
    PolicySetting{"shared_with", false, true, true,
                  SettingMember<SharedWith>{&PolicySettings::shared_with}},
    PolicySetting{"backend", false, true, true,
                  SettingMember<std::string>{&PolicySettings::backend}},
    PolicySetting{
        "on_timeout", true, true, true,
        SettingMember<Policy::OnTimeout>{&PolicySettings::on_timeout, &Policy::on_timeout}},
    PolicySetting{"on_unavailable", true, true, true,
                  SettingMember<Policy::OnUnavailable>{&PolicySettings::on_unavailable,
                                                       &Policy::on_unavailable}},
    PolicySetting{"on_lost", true, true, true,
                  SettingMember<Policy::OnLost>{&PolicySettings::on_lost, &Policy::on_lost}},
    PolicySetting{"on_unconfirmed_release", true, true, true,
                  SettingMember<Policy::OnLost>{&PolicySettings::on_unconfirmed_release,
                                                &Policy::on_unconfirmed_release}},
    PolicySetting{"unlocked", false, true, true, SettingMember<bool>{&PolicySettings::unlocked}},
};

}  // namespace latchkey::inline v1::detail
