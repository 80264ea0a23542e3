// The effective settings of a method from a policy file, with the part of the file that sets each.
// SPDX-License-Identifier: BSL-1.0
#include "cli/policy/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "cli/output.hpp"
#include "core/text/printable.hpp"
#include "install/rule_match.hpp"
#include "policy/method_pattern.hpp"
#include "policy/settings.hpp"

namespace latchkey::inline v1::cli {
namespace {

using detail::PolicySettings;
using std::chrono::milliseconds;

struct Layer {
  std::string name;
  const PolicySettings* settings;
};

std::string text_of(const std::string& text) { return text; }
std::string text_of(const detail::KeyTexts& keys) { return keys.shown(); }
std::string text_of(std::uint32_t number) { return std::to_string(number); }
std::string text_of(milliseconds length) {
  if (length == adaptive_cache) return std::string(detail::learned_cache);
  if (length % std::chrono::seconds(1) != milliseconds(0))
    return fmt::format("{}ms", length.count());
  return fmt::format("{}s", length.count() / 1000);
}
std::string text_of(Wait wait) {
  return wait.is_forever() ? std::string(detail::endless_wait) : text_of(wait.length());
}
std::string text_of(Lease lease) {
  return lease.is_watchdog() ? std::string(detail::endless_lease) : text_of(lease.length({}));
}
template <class Value>
std::string text_of(Value value) {
  const auto& names = detail::Spellings<Value>::names;
  const auto* const found =
      std::ranges::find_if(names, [&](const auto& each) { return each.second == value; });
  return std::string(found->first);
}

/// Adds a setting from the first layer that sets it.
template <class T>
void add_setting(Explanation& to, std::string_view setting, std::span<const Layer> layers,
                 detail::Perhaps<T> PolicySettings::* member) {
  for (const Layer& layer : layers) {
    const detail::Perhaps<T>& said = layer.settings->*member;
    if (!said) continue;
    to.settings.push_back({std::string(setting), text_of(said->value), layer.name, said->at.line});
    return;
  }
}

/// Splits `said` at its commas, except inside parentheses, brackets and braces.
std::vector<std::string> terms_of(std::string_view said) {
  std::vector<std::string> terms;
  int depth = 0;
  for (std::size_t begin = 0, at = 0; at <= said.size(); ++at) {
    const char letter = at < said.size() ? said[at] : ',';
    if (std::string_view("({[").find(letter) != std::string_view::npos) ++depth;
    if (std::string_view(")}]").find(letter) != std::string_view::npos) --depth;
    if (letter != ',' || (depth > 0 && at < said.size())) continue;
    const std::string_view term = said.substr(begin, at - begin);
    const std::size_t first = term.find_first_not_of(' ');
    if (first != std::string_view::npos) terms.emplace_back(term.substr(first));
    begin = at + 1;
  }
  return terms;
}

/// Returns a setting as the code of the LOCKED says it; empty: it says nothing, or it is known only
/// when the call is made.
std::string in_code(std::string_view setting, const detail::LockPlace& place) {
  if (place.traits.by_policy || place.traits.once) return {};
  constexpr std::array<std::string_view, 3> positions{"type", "wait", "lease"};
  const std::vector<std::string> terms = terms_of(place.said);
  for (std::size_t each = 0; each < std::min(positions.size(), terms.size()); ++each) {
    if (setting == positions[each]) return terms[each];
  }
  if (setting == "on_timeout") return place.traits.on_timeout;
  if (setting == "on_unavailable") return place.traits.on_unavailable;
  return setting == "on_lost" ? place.traits.on_lost : std::string();
}

std::vector<Layer> layers_of(const detail::PolicyFile& file, const detail::LockPlace& place,
                             const detail::Rule* rule) {
  std::vector<Layer> layers;
  const auto add_policy = [&](const std::string& name) {
    if (const detail::NamedPolicy* const policy = file.find_policy(name)) {
      layers.push_back({"policy '" + name + "'", &policy->settings});
    }
  };
  if (rule != nullptr) {
    layers.push_back({"rule '" + rule->pattern.value + "'", &rule->settings});
    if (rule->settings.policy) add_policy(rule->settings.policy->value);
  }
  if (place.traits.by_policy) add_policy(place.text);
  layers.push_back({"defaults", &file.defaults});
  return layers;
}

std::string macro_of(const detail::LockPlace& place) {
  const char* const macro = place.traits.by_policy ? "LOCKED_BY"
                            : place.traits.once    ? "LOCKED_ONCE_PER"
                                                   : "LOCKED";
  const std::string more = place.said.empty() ? std::string() : ", " + place.said;
  return fmt::format("{}(\"{}\"{})", macro, place.text, more);
}

/// `layers`: the defaults are the last.
Explanation explain(const std::vector<Layer>& layers, const detail::LockPlace& place) {
  Explanation explanation{place.where, macro_of(place), {}};
  const std::span all(layers);
  for (const detail::PolicySetting& setting : detail::policy_settings) {
    if (setting.name == "policy") continue;  // the layers show it
    if (place.traits.once && setting.name != "backend") continue;
    const auto add = [&](const auto& member) {
      const std::size_t before = explanation.settings.size();
      add_setting(explanation, setting.name, all.first(all.size() - 1), member.said);
      if (explanation.settings.size() > before) return;
      const std::string code = in_code(setting.name, place);
      if (!code.empty()) {
        explanation.settings.push_back({std::string(setting.name), code, "the code", 0});
      } else {
        add_setting(explanation, setting.name, all.last(1), member.said);
      }
    };
    std::visit(add, setting.member);
  }
  return explanation;
}

}  // namespace

std::vector<Explanation> explain_policies(const detail::PolicyFile& file,
                                          const detail::Program& program,
                                          const std::string& method) {
  detail::Problems ignored;  // the file has been checked
  const std::vector<const detail::Rule*> rules = detail::match_rules(file.rules, program, ignored);
  const std::vector<detail::LockPlace>& places = program.places;
  std::vector<Explanation> explanations;
  for (std::size_t each = 0; each < places.size(); ++each) {
    const detail::LockPlace& place = places[each];
    const bool named =
        detail::names_method(method, place.name) || detail::names_method(method, place.method);
    if (named) explanations.push_back(explain(layers_of(file, place, rules[each]), place));
  }
  return explanations;
}

namespace {

/// A member of LOCKED whose value is known only when the call is made.
bool is_known_late(std::string_view setting) {
  return setting == "hold_for" || setting == "held_at_most" || setting == "lock_delay" ||
         setting == "cache" || setting == "permits" || setting == "fenced" ||
         setting == "on_unconfirmed_release";
}

}  // namespace

std::string explanation_text(const Explanation& explanation) {
  std::string text = fmt::format("{}: {}\n", detail::printable(explanation.where),
                                 detail::printable(explanation.lock));
  for (const ExplainedSetting& setting : explanation.settings) {
    const std::string value = detail::printable(setting.name + ": " + setting.value);
    const bool by_default = setting.said_by == "defaults" && is_known_late(setting.name);
    const std::string line =
        setting.line == 0 ? std::string() : fmt::format(", line {}", setting.line);
    text += fmt::format("  {:<32}  {}{}{}\n", value, detail::printable(setting.said_by), line,
                        by_default ? ", unless the code says otherwise" : "");
  }
  if (explanation.settings.empty()) text += "  the file says nothing of it\n";
  return text;
}

std::string explanation_json(const Explanation& explanation) {
  nlohmann::ordered_json settings = nlohmann::ordered_json::array();
  for (const ExplainedSetting& setting : explanation.settings) {
    settings.push_back({{"setting", setting.name},
                        {"value", setting.value},
                        {"said_by", setting.said_by},
                        {"line", setting.line}});
  }
  return json_line({{"where", explanation.where},
                    {"lock", explanation.lock},
                    {"settings", std::move(settings)}});
}

}  // namespace latchkey::inline v1::cli
