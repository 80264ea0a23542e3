// The effective settings of a method from a policy file, with the part of the file that sets each.
// SPDX-License-Identifier: BSL-1.0
#include "cli/policy/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <variant>

#include "cli/json_line.hpp"
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
std::string text_of(std::uint32_t number) { return std::to_string(number); }
std::string text_of(milliseconds length) {
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
void add_setting(Explanation& to, std::string_view setting, const std::vector<Layer>& layers,
                 detail::Perhaps<T> PolicySettings::* member) {
  for (const Layer& layer : layers) {
    const detail::Perhaps<T>& said = layer.settings->*member;
    if (!said) continue;
    to.settings.push_back({std::string(setting), text_of(said->value), layer.name, said->at.line});
    return;
  }
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

Explanation explain(const std::vector<Layer>& layers, const detail::LockPlace& place) {
  const char* const macro = place.traits.by_policy ? "LOCKED_BY" : "LOCKED";
  Explanation explanation{place.where, fmt::format("{}(\"{}\")", macro, place.text), {}};
  for (const detail::PolicySetting& setting : detail::policy_settings) {
    if (setting.name == "policy") continue;  // the layers show it
    const auto add = [&](const auto& member) {
      add_setting(explanation, setting.name, layers, member.said);
    };
    std::visit(add, setting.member);
  }
  return explanation;
}

}  // namespace

std::vector<Explanation> explain_policies(const detail::PolicyFile& file,
                                          const std::vector<detail::LockPlace>& places,
                                          const std::string& method) {
  detail::Problems ignored;  // the file has been checked
  const std::vector<const detail::Rule*> rules = detail::match_rules(file.rules, places, ignored);
  std::vector<Explanation> explanations;
  for (std::size_t each = 0; each < places.size(); ++each) {
    const detail::LockPlace& place = places[each];
    const bool named =
        detail::names_method(method, place.name) || detail::names_method(method, place.method);
    if (named) explanations.push_back(explain(layers_of(file, place, rules[each]), place));
  }
  return explanations;
}

std::string explanation_text(const Explanation& explanation) {
  std::string text = fmt::format("{}: {}\n", detail::printable(explanation.where),
                                 detail::printable(explanation.lock));
  for (const ExplainedSetting& setting : explanation.settings) {
    const std::string value = detail::printable(setting.name + ": " + setting.value);
    const char* const limit =
        setting.said_by == "defaults" ? ", unless the code says otherwise" : "";
    text += fmt::format("  {:<32}  {}, line {}{}\n", value, detail::printable(setting.said_by),
                        setting.line, limit);
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
