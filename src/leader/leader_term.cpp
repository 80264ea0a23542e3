// The decisions of a Leader about its term.
// SPDX-License-Identifier: BSL-1.0
#include "leader/leader_term.hpp"

namespace latchkey::inline v1::detail {

std::optional<std::string_view> reason_to_stop(const LeaderTerm& term) noexcept {
  if (term.lost) return "its lock was lost";
  if (term.left <= term.stop_before) return "its lock could not be renewed in time";
  if (term.asked) return "";
  return std::nullopt;
}

bool is_new_term(std::uint64_t token, std::uint64_t last) noexcept { return token > last; }

}  // namespace latchkey::inline v1::detail
