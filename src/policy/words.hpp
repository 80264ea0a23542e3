// Every word of latchkey.yaml. The reader accepts these, and the schema and the documentation list
// them.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <latchkey/policy.hpp>

#include "policy/policy_file.hpp"

namespace latchkey::detail {

inline constexpr std::array<std::string_view, 6> sections{"backends", "backend",  "prefix",
                                                          "defaults", "policies", "rules"};

inline constexpr std::string_view endless_wait = "forever";
inline constexpr std::string_view endless_lease = "watchdog";

template <class Value, std::size_t N>
using Names = std::array<std::pair<std::string_view, Value>, N>;

inline constexpr Names<LockType, 5> type_names{{{"REENTRANT", LockType::REENTRANT},
                                                {"FAIR", LockType::FAIR},
                                                {"READ", LockType::READ},
                                                {"WRITE", LockType::WRITE},
                                                {"FENCED", LockType::FENCED}}};
inline constexpr Names<OnTimeout, 3> on_timeout_names{
    {{"raise", OnTimeout::RAISE},
     {"skip", OnTimeout::SKIP},
     {"run_unlocked_dangerously", OnTimeout::RUN_UNLOCKED_DANGEROUSLY}}};
inline constexpr Names<OnUnavailable, 2> on_unavailable_names{
    {{"raise", OnUnavailable::RAISE}, {"skip", OnUnavailable::SKIP}}};
inline constexpr Names<OnLost, 2> on_lost_names{
    {{"raise", OnLost::RAISE}, {"report", OnLost::REPORT}}};
inline constexpr Names<bool, 1> unlocked_names{{{"dangerously", true}}};

/// The spellings of a value that has a fixed set of them.
template <class Value>
struct Spellings;
template <>
struct Spellings<LockType> {
  static constexpr const auto& names = type_names;
};
template <>
struct Spellings<OnTimeout> {
  static constexpr const auto& names = on_timeout_names;
};
template <>
struct Spellings<OnUnavailable> {
  static constexpr const auto& names = on_unavailable_names;
};
template <>
struct Spellings<OnLost> {
  static constexpr const auto& names = on_lost_names;
};
template <>
struct Spellings<bool> {
  static constexpr const auto& names = unlocked_names;
};

/// Where the value of a word is stored: as the file says it, and in the policy of a lock. The
/// second is null for a word that selects the lock or the policy.
template <class Type>
struct WordMember {
  using Value = Type;
  Perhaps<Value> PolicyWords::* said;
  std::optional<Value> Policy::* merged = nullptr;
};

/// One word of a policy and where it may stand.
struct PolicyWord {
  std::string_view name;
  bool in_defaults;
  bool in_policies;
  bool in_rules;
  std::variant<WordMember<std::string>, WordMember<LockType>, WordMember<Wait>, WordMember<Lease>,
               WordMember<std::chrono::milliseconds>, WordMember<OnTimeout>,
               WordMember<OnUnavailable>, WordMember<OnLost>, WordMember<bool>>
      member;
};

/// The one list of the words: reader, merge, `latchkey check`, schema and documentation use it.
inline constexpr std::array policy_words{
    PolicyWord{"policy", false, false, true, WordMember<std::string>{&PolicyWords::policy}},
    PolicyWord{"key", false, true, true, WordMember<std::string>{&PolicyWords::key}},
    PolicyWord{"type", true, true, true, WordMember<LockType>{&PolicyWords::type, &Policy::type}},
    PolicyWord{"wait", true, true, true, WordMember<Wait>{&PolicyWords::wait, &Policy::wait}},
    PolicyWord{"lease", true, true, true, WordMember<Lease>{&PolicyWords::lease, &Policy::lease}},
    PolicyWord{"hold_for", true, true, true,
               WordMember<std::chrono::milliseconds>{&PolicyWords::hold_for, &Policy::hold_for}},
    PolicyWord{"backend", false, true, true, WordMember<std::string>{&PolicyWords::backend}},
    PolicyWord{"on_timeout", true, true, true,
               WordMember<OnTimeout>{&PolicyWords::on_timeout, &Policy::on_timeout}},
    PolicyWord{"on_unavailable", true, true, true,
               WordMember<OnUnavailable>{&PolicyWords::on_unavailable, &Policy::on_unavailable}},
    PolicyWord{"on_lost", true, true, true,
               WordMember<OnLost>{&PolicyWords::on_lost, &Policy::on_lost}},
    PolicyWord{"unlocked", false, true, true, WordMember<bool>{&PolicyWords::unlocked}},
};

}  // namespace latchkey::detail
