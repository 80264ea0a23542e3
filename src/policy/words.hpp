// Every word that latchkey.yaml knows: what the reader accepts and the schema and the page list.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include <latchkey/policy.hpp>

namespace latchkey::detail {

inline constexpr std::array<std::string_view, 6> sections{"backends", "backend",  "prefix",
                                                          "defaults", "policies", "rules"};

/// Where a word of a policy may stand.
struct PolicyWord {
  std::string_view name;
  bool in_defaults;
  bool in_policies;
  bool in_rules;
};

inline constexpr std::array policy_words{
    PolicyWord{"policy", false, false, true},       PolicyWord{"key", false, true, true},
    PolicyWord{"type", true, true, true},           PolicyWord{"wait", true, true, true},
    PolicyWord{"lease", true, true, true},          PolicyWord{"hold_for", true, true, true},
    PolicyWord{"backend", false, true, true},       PolicyWord{"on_timeout", true, true, true},
    PolicyWord{"on_unavailable", true, true, true}, PolicyWord{"on_lost", true, true, true},
    PolicyWord{"unlocked", false, true, true},
};

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

inline constexpr std::string_view endless_wait = "forever";
inline constexpr std::string_view endless_lease = "watchdog";

}  // namespace latchkey::detail
