// Reads single values, and the settings of one policy.
// SPDX-License-Identifier: BSL-1.0
#include "policy/settings_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

#include <latchkey/permits.hpp>

#include "core/text/duration.hpp"
#include "core/text/nearest.hpp"
#include "policy/yaml_lines.hpp"

namespace latchkey::inline v1::detail {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view needs_code =
    "; skip_with and fallback need a value or a function, which stand in code";

constexpr milliseconds shortest_lease{10};

/// The value that stands for a time without an end, if there is one, and the sentence for that of
/// the other.
template <class Time>
struct Endless {
  static constexpr std::string_view name{};
  static constexpr std::string_view name_of_other{};
  static constexpr const char* sentence = "";
  static constexpr milliseconds value{};
};
template <>
struct Endless<Wait> {
  static constexpr std::string_view name = endless_wait;
  static constexpr std::string_view name_of_other = endless_lease;
  static constexpr const char* sentence = "'watchdog' is a lease; did you mean 'forever'?";
  static constexpr Wait value{forever};
};
template <>
struct Endless<Lease> {
  static constexpr std::string_view name = endless_lease;
  static constexpr std::string_view name_of_other = endless_wait;
  static constexpr const char* sentence = "'forever' is a wait; did you mean 'watchdog'?";
  static constexpr Lease value{watchdog};
};

/// The place of a value. An empty value has that of its name.
Place place_of(const YamlNode& name, const YamlNode& value) {
  return value.kind == YamlNode::Kind::null ? name.at : value.at;
}

}  // namespace

SettingsReader::SettingsReader(std::string_view text, Problems& problems)
    : lines_(split_lines(text)), problems_(problems) {}

void SettingsReader::report(Place at, std::string sentence) {
  problems_.push_back({at, std::move(sentence)});
}

std::string_view SettingsReader::line(Place at) const {
  const auto index = static_cast<std::size_t>(std::max(at.line, 1) - 1);
  return index < lines_.size() ? lines_[index] : std::string_view();
}

SettingsReader::Entries SettingsReader::entries(const YamlNode& name, const YamlNode& map) {
  Entries all;
  if (map.broken) return all;
  if (map.kind != YamlNode::Kind::map) {
    report(place_of(name, map),
           quoted_word(name.text) + ": no settings; expected them indented below it");
    return all;
  }
  for (std::size_t at = 0; at + 1 < map.items.size(); at += 2) {
    const YamlNode& key = map.items[at];
    if (key.broken) continue;
    if (key.kind != YamlNode::Kind::text || key.text.empty()) {
      report(key.at, "not a key; expected quotes around a name that begins with { [ * & or ?");
      continue;
    }
    const auto earlier = std::find_if(
        all.begin(), all.end(), [&](const auto& known) { return known.first.text == key.text; });
    if (earlier != all.end()) {
      report(key.at, "duplicate key " + quoted_word(key.text) + "; first in line " +
                         std::to_string(earlier->first.at.line));
      continue;
    }
    all.emplace_back(key, map.items[at + 1]);
  }
  return all;
}

Perhaps<std::string> SettingsReader::text(const YamlNode& name, const YamlNode& value) {
  if (value.broken) return std::nullopt;
  if (value.kind != YamlNode::Kind::text || value.text.empty()) {
    no_text(name, value);
    return std::nullopt;
  }
  check_cut(name, value);
  return Located<std::string>{value.text, value.at};
}

void SettingsReader::no_text(const YamlNode& name, const YamlNode& value) {
  const std::string word = quoted_word(name.text);
  const Place at = place_of(name, value);
  if (value.kind == YamlNode::Kind::map && value.flow) {
    return report(at,
                  "YAML reads {...} after " + word + " as a map: quote it, as in \"{user.id}\"");
  }
  if (value.kind == YamlNode::Kind::list && value.flow) {
    return report(at, "YAML reads [...] after " + word + " as a list; expected one text");
  }
  if (value.kind == YamlNode::Kind::map || value.kind == YamlNode::Kind::list) {
    return report(at, word + ": several lines; expected one text");
  }
  const std::size_t behind = static_cast<std::size_t>(name.at.column) + name.text.size();
  const std::string_view own = line(name.at);
  const std::size_t comment = behind < own.size() ? own.find('#', behind) : std::string_view::npos;
  if (comment != std::string_view::npos) {
    return report(
        {name.at.line, static_cast<int>(comment) + 1},
        "YAML takes # after " + word + " for a comment: quote the value, as in \"#user.id\"");
  }
  report(at, word + ": empty; expected a value");
}

/// One key, or a list of several, which are taken together.
Perhaps<KeyTexts> SettingsReader::keys(const YamlNode& name, const YamlNode& value) {
  KeyTexts all;
  if (value.kind != YamlNode::Kind::list || value.broken) {
    const Perhaps<std::string> one = text(name, value);
    if (!one) return std::nullopt;
    all.all.push_back(*one);
    return Located<KeyTexts>{std::move(all), one->at};
  }
  for (const YamlNode& item : value.items) {
    const Perhaps<std::string> one = text({.at = item.at, .text = name.text}, item);
    if (!one) return std::nullopt;
    all.all.push_back(*one);
  }
  if (all.all.empty()) {
    report(value.at, quoted_word(name.text) + ": an empty list; expected a key");
    return std::nullopt;
  }
  return Located<KeyTexts>{std::move(all), value.at};
}

/// YAML reads `key: user #id` as the key `user`.
void SettingsReader::check_cut(const YamlNode& name, const YamlNode& value) {
  if (value.quoted || (name.text != "key" && name.text != "prefix")) return;
  const auto behind = static_cast<std::size_t>(value.at.column - 1) + value.text.size();
  if (has_comment_behind(line(value.at), behind)) {
    report(value.at, "YAML ends " + quoted_word(value.text) +
                         " before the #: quote the whole value, or put a blank after the # of a "
                         "comment");
  }
}

PolicySettings SettingsReader::settings(const YamlNode& name, const YamlNode& map, Where where) {
  PolicySettings settings;
  for (const auto& [key, value] : entries(name, map)) setting(settings, key, value, where);
  check_times(settings);
  check_type(settings);
  return settings;
}

void SettingsReader::setting(PolicySettings& settings, const YamlNode& name, const YamlNode& value,
                             Where where) {
  const auto known = std::find_if(policy_settings.begin(), policy_settings.end(),
                                  [&](const PolicySetting& one) { return one.name == name.text; });
  if (known == policy_settings.end() || !((*known).*where)) return unknown_setting(name, where);
  if (name.text == "key") {
    settings.key = keys(name, value);
    settings.key_is_wrong = settings.key_is_wrong || !settings.key;
    return;
  }
  const Perhaps<std::string> said = text(name, value);
  if (!said) return;
  const auto store = [&]<class Value>(const SettingMember<Value>& member) {
    settings.*member.said = parse<Value>(name, *said);
  };
  std::visit(store, known->member);
  const bool unsafe = settings.on_timeout &&
                      std::holds_alternative<strategy::RunUnlocked>(settings.on_timeout->value);
  if (name.text == "on_timeout" && unsafe && where == &PolicySetting::in_defaults) {
    report(
        said->at,
        "'run_unlocked_dangerously' is not allowed in defaults; expected at the methods concerned");
    settings.on_timeout.reset();
  }
}

void SettingsReader::unknown_setting(const YamlNode& name, Where where) {
  std::vector<std::string_view> right;
  for (const PolicySetting& setting : policy_settings) {
    if (setting.name == name.text) {
      const char* const place = setting.in_policies ? "policies and rules" : "rules";
      return report(
          name.at, quoted_word(name.text) + " is not allowed here; expected in " + place + " only");
    }
    if (setting.*where) right.push_back(setting.name);
  }
  report(name.at, "unknown key " + quoted_word(name.text) + nearest_words(name.text, right));
}

template <class Value>
Perhaps<Value> SettingsReader::parse(const YamlNode& name, const Located<std::string>& said) {
  if constexpr (std::is_same_v<Value, KeyTexts>) {
    return std::nullopt;  // not reached: a key may be a list
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return said;
  } else if constexpr (std::is_same_v<Value, std::uint32_t>) {
    return permits(name, said);
  } else if constexpr (std::is_constructible_v<Value, milliseconds>) {
    return time<Value>(name, said);
  } else {
    return one_of_spellings<Value>(name, said);
  }
}

template <class Time>
Perhaps<Time> SettingsReader::time(const YamlNode& name, const Located<std::string>& said) {
  const std::string before = quoted_word(name.text) + ": ";
  if (said.value == Endless<Time>::name) return Located<Time>{Endless<Time>::value, said.at};
  if (!Endless<Time>::name.empty() && said.value == Endless<Time>::name_of_other) {
    report(said.at, before + Endless<Time>::sentence);
    return std::nullopt;
  }
  const bool is_cache = name.text == "cache";
  if (is_cache && said.value == learned_cache) return Located<Time>{Time(adaptive_cache), said.at};
  const Duration length = parse_duration(said.value);
  if (const auto* mistake = std::get_if<std::string>(&length)) {
    const std::string word(is_cache ? learned_cache : Endless<Time>::name);
    report(said.at, before + *mistake + (word.empty() ? word : ", or '" + word + "'"));
    return std::nullopt;
  }
  const milliseconds time = std::get<milliseconds>(length);
  const bool is_delay = name.text == "lock_delay";
  const bool is_lease = std::is_same_v<Time, Lease> || is_delay || name.text == "held_at_most";
  const char* mistake = nullptr;
  if (is_lease && time < shortest_lease) mistake = " is too short; expected at least 10ms";
  if (is_delay && time > longest_lock_delay) mistake = " is too long; expected at most 24h";
  if (is_cache && time > longest_cache) {
    mistake = " is too long; expected at most 10s, or 'adaptive'";
  }
  if (mistake == nullptr) return Located<Time>{Time(time), said.at};
  report(said.at, before + quoted_word(said.value) + mistake);
  return std::nullopt;
}

template <class Value>
Perhaps<Value> SettingsReader::one_of_spellings(const YamlNode& name,
                                                const Located<std::string>& said) {
  std::vector<std::string_view> right;
  for (const auto& [spelling, value] : Spellings<Value>::names) {
    if (spelling == said.value) return Located<Value>{value, said.at};
    right.push_back(spelling);
  }
  const bool in_code = said.value.starts_with("skip_with") || said.value.starts_with("fallback");
  report(said.at, quoted_word(name.text) + ": unknown value " + quoted_word(said.value) +
                      nearest_words(said.value, right) + std::string(in_code ? needs_code : ""));
  return std::nullopt;
}

Perhaps<std::uint32_t> SettingsReader::permits(const YamlNode& name,
                                               const Located<std::string>& said) {
  std::uint32_t number = 0;
  const char* const end = said.value.data() + said.value.size();
  const auto [stop, error] = std::from_chars(said.value.data(), end, number);
  if (error == std::errc() && stop == end && number >= 1 && number <= most_permits) {
    return Located<std::uint32_t>{number, said.at};
  }
  report(said.at, quoted_word(name.text) + ": " + quoted_word(said.value) +
                      " is no number of permits; expected 1 to " + std::to_string(most_permits));
  return std::nullopt;
}

void SettingsReader::check_type(const PolicySettings& settings) {
  LockType type = settings.type ? settings.type->value : LockType::REENTRANT;
  if (settings.permits) type = LockType::PERMIT;
  if (settings.fenced && is_shared(type)) report(settings.fenced->at, no_token_mistake(type));
  if (!settings.permits || !settings.type) return;
  report(settings.permits->at,
         "'permits' makes the key a semaphore, and 'type' a lock; expected one of the two");
}

void SettingsReader::check_times(const PolicySettings& settings) {
  if (const auto& most = settings.held_at_most) {
    std::string mistake = held_at_most_mistake(most->value, settings.lease, settings.hold_for);
    if (!mistake.empty()) report(most->at, std::move(mistake));
  }
  if (!settings.hold_for || !settings.lease || settings.lease->value.is_watchdog()) return;
  if (settings.hold_for->value > settings.lease->value.length(milliseconds(0))) {
    report(settings.hold_for->at,
           "'hold_for' is longer than the lease, which ends it earlier; expected a longer lease");
  }
}

}  // namespace latchkey::inline v1::detail
// tidy: long-file because each kind of value has its reader
