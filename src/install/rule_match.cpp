// Selects the rule of a policy file that applies to a method.
// SPDX-License-Identifier: BSL-1.0
#include "install/rule_match.hpp"

#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/addressof.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/remove_if.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/text/nearest.hpp"
#include "policy/method_pattern.hpp"

namespace latchkey::inline v1::detail {
namespace {

bool names(const Rule& rule, const LockPlace& place) {
  return names_method(rule.pattern.value, place.name) ||
         names_method(rule.pattern.value, place.method);
}

/// Class and method of a name, without namespaces; a shorter name as it is.
std::string_view last_two(std::string_view name) {
  const std::size_t last = name.rfind("::");
  if (last == std::string_view::npos || last == 0) return name;
  const std::size_t before = name.rfind("::", last - 1);
  return before == std::string_view::npos ? name : name.substr(before + 2);
}

std::string unmatched_sentence(const Rule& rule, const std::vector<LockPlace>& places) {
  const bool has_star = rule.pattern.value.find('*') != std::string::npos;
  std::set<std::string> candidates;
  for (const LockPlace& place : places) {
    const std::string_view method = last_two(place.name);
    const std::size_t colons = method.find("::");
    if (has_star && colons != std::string_view::npos) {
      candidates.insert(std::string(method.substr(0, colons)) + "::*");
    } else {
      candidates.emplace(method);
    }
  }
  const std::vector<std::string_view> right(candidates.begin(), candidates.end());
  return "pattern " + quoted_word(rule.pattern.value) +
         " matches no decorated method of this program" + nearest_words(rule.pattern.value, right);
}

class Match {
 public:
  Match(const std::vector<Rule>& rules, Problems& problems) : rules_(rules), problems_(problems) {}

  const Rule* strongest(const LockPlace& place) {
    const auto names_place = [&](const Rule& rule) { return names(rule, place); };
    const auto fitting = rules_ | ranges::views::filter(names_place) | ranges::views::addressof |
                         ranges::to<std::vector>();
    used_.insert(fitting.begin(), fitting.end());
    const auto beats_all = [&](const Rule* one) {
      return ranges::all_of(fitting, [&](const Rule* other) {
        return one == other || is_more_specific(one->pattern.value, other->pattern.value);
      });
    };
    const auto found = std::find_if(fitting.begin(), fitting.end(), beats_all);
    if (found != fitting.end()) return *found;
    if (!fitting.empty()) report_tie(fitting, place);
    return nullptr;
  }

  [[nodiscard]] bool is_used(const Rule& rule) const { return used_.contains(&rule); }

 private:
  void report_tie(const std::vector<const Rule*>& fitting, const LockPlace& place) {
    const auto is_beaten = [&](const Rule* one) {
      return ranges::any_of(fitting, [&](const Rule* other) {
        return is_more_specific(other->pattern.value, one->pattern.value);
      });
    };
    const auto unbeaten = fitting | ranges::views::remove_if(is_beaten) | ranges::to<std::vector>();
    const Rule* const first = unbeaten.front();
    const Rule* const second = unbeaten.back();
    if (!told_.emplace(first, second).second) return;
    problems_.push_back({second->pattern.at, quoted_word(second->pattern.value) + " and " +
                                                 quoted_word(first->pattern.value) + " of line " +
                                                 std::to_string(first->pattern.at.line) +
                                                 " both name " + place.where +
                                                 ", and neither is the more specific: write a "
                                                 "rule for " +
                                                 quoted_word(last_two(place.name))});
  }

  const std::vector<Rule>& rules_;
  Problems& problems_;
  std::set<const Rule*> used_{};
  std::set<std::pair<const Rule*, const Rule*>> told_{};
};

}  // namespace

std::vector<const Rule*> match_rules(const std::vector<Rule>& rules, const Program& program,
                                     Problems& problems) {
  const std::vector<LockPlace>& places = program.places;
  Match match(rules, problems);
  std::vector<const Rule*> matched;
  matched.reserve(places.size());
  for (const LockPlace& place : places) matched.push_back(match.strongest(place));
  for (const Rule& rule : rules) {
    if (program.is_whole && !match.is_used(rule)) {
      problems.push_back({rule.pattern.at, unmatched_sentence(rule, places)});
    }
  }
  return matched;
}

}  // namespace latchkey::inline v1::detail
