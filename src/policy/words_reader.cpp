// Reads single words, and the words of one policy.
#include "policy/words_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

#include "policy/duration.hpp"
#include "policy/nearest.hpp"
#include "policy/yaml_lines.hpp"

namespace latchkey::detail {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view needs_code =
    "; skip_with and fallback need a value or a function, which stand in code";

constexpr milliseconds shortest_lease{10};

/// The word for a time without an end, if there is one, and the sentence for that of the other.
template <class Time>
struct Endless {
  static constexpr std::string_view word{};
  static constexpr std::string_view word_of_other{};
  static constexpr const char* sentence = "";
  static constexpr milliseconds value{};
};
template <>
struct Endless<Wait> {
  static constexpr std::string_view word = endless_wait;
  static constexpr std::string_view word_of_other = endless_lease;
  static constexpr const char* sentence = "'watchdog' is a lease; did you mean 'forever'?";
  static constexpr Wait value{forever};
};
template <>
struct Endless<Lease> {
  static constexpr std::string_view word = endless_lease;
  static constexpr std::string_view word_of_other = endless_wait;
  static constexpr const char* sentence = "'forever' is a wait; did you mean 'watchdog'?";
  static constexpr Lease value{watchdog};
};

/// The place of a value. An empty value has that of its name.
Place place_of(const YamlNode& name, const YamlNode& value) {
  return value.kind == YamlNode::Kind::null ? name.at : value.at;
}

}  // namespace

WordsReader::WordsReader(std::string_view text, Problems& problems)
    : lines_(split_lines(text)), problems_(problems) {}

void WordsReader::report(Place at, std::string sentence) {
  problems_.push_back({at, std::move(sentence)});
}

std::string_view WordsReader::line(Place at) const {
  const auto index = static_cast<std::size_t>(std::max(at.line, 1) - 1);
  return index < lines_.size() ? lines_[index] : std::string_view();
}

std::vector<const std::pair<YamlNode, YamlNode>*> WordsReader::entries(const YamlNode& name,
                                                                       const YamlNode& map) {
  std::vector<const std::pair<YamlNode, YamlNode>*> all;
  if (map.broken) return all;
  if (map.kind != YamlNode::Kind::map) {
    report(place_of(name, map),
           quoted_word(name.text) + ": no words; expected them indented below it");
    return all;
  }
  for (const auto& entry : map.entries) {
    if (entry.first.broken) continue;
    if (entry.first.kind != YamlNode::Kind::text || entry.first.text.empty()) {
      report(entry.first.at,
             "not a word; expected quotes around a name that begins with { [ * & or ?");
      continue;
    }
    const auto earlier = std::find_if(all.begin(), all.end(), [&](const auto* known) {
      return known->first.text == entry.first.text;
    });
    if (earlier != all.end()) {
      report(entry.first.at, "duplicate word " + quoted_word(entry.first.text) +
                                 "; first in line " + std::to_string((*earlier)->first.at.line));
      continue;
    }
    all.push_back(&entry);
  }
  return all;
}

Perhaps<std::string> WordsReader::text(const YamlNode& name, const YamlNode& value) {
  if (value.broken) return std::nullopt;
  if (value.kind != YamlNode::Kind::text || value.text.empty()) {
    no_text(name, value);
    return std::nullopt;
  }
  check_cut(name, value);
  return Located<std::string>{value.text, value.at};
}

void WordsReader::no_text(const YamlNode& name, const YamlNode& value) {
  const std::string word = quoted_word(name.text);
  const Place at = place_of(name, value);
  if (value.kind == YamlNode::Kind::map && value.flow) {
    return report(at,
                  "YAML reads {...} after " + word + " as a map: quote it, as in \"{user.id}\"");
  }
  if (value.kind == YamlNode::Kind::list && value.flow) {
    return report(at, "YAML reads [...] after " + word + " as a list: quote it");
  }
  if (value.kind == YamlNode::Kind::map || value.kind == YamlNode::Kind::list) {
    return report(at, word + ": several lines of words; expected one text");
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

/// YAML reads `key: user #id` as the key `user`.
void WordsReader::check_cut(const YamlNode& name, const YamlNode& value) {
  if (value.quoted || (name.text != "key" && name.text != "prefix")) return;
  const auto behind = static_cast<std::size_t>(value.at.column - 1) + value.text.size();
  if (has_comment_behind(line(value.at), behind)) {
    report(value.at, "YAML ends " + quoted_word(value.text) +
                         " before the #: quote the whole value, or put a blank after the # of a "
                         "comment");
  }
}

PolicyWords WordsReader::words(const YamlNode& name, const YamlNode& map, Where where) {
  PolicyWords words;
  for (const auto* entry : entries(name, map)) word(words, entry->first, entry->second, where);
  check_hold_for(words);
  return words;
}

void WordsReader::word(PolicyWords& words, const YamlNode& name, const YamlNode& value,
                       Where where) {
  const auto known = std::find_if(policy_words.begin(), policy_words.end(),
                                  [&](const PolicyWord& one) { return one.name == name.text; });
  if (known == policy_words.end() || !((*known).*where)) return unknown_word(name, where);
  const Perhaps<std::string> said = text(name, value);
  if (!said) {
    words.key_is_wrong = words.key_is_wrong || name.text == "key";
    return;
  }
  const auto store = [&]<class Value>(const WordMember<Value>& member) {
    words.*member.said = parse<Value>(name, *said);
  };
  std::visit(store, known->member);
  const bool unsafe =
      words.on_timeout && words.on_timeout->value == OnTimeout::RUN_UNLOCKED_DANGEROUSLY;
  if (name.text == "on_timeout" && unsafe && where == &PolicyWord::in_defaults) {
    report(
        said->at,
        "'run_unlocked_dangerously' is not allowed in defaults; expected at the methods concerned");
    words.on_timeout.reset();
  }
}

void WordsReader::unknown_word(const YamlNode& name, Where where) {
  std::vector<std::string_view> right;
  for (const PolicyWord& word : policy_words) {
    if (word.name == name.text) {
      const char* const place = word.in_policies ? "policies and rules" : "rules";
      return report(
          name.at, quoted_word(name.text) + " is not allowed here; expected in " + place + " only");
    }
    if (word.*where) right.push_back(word.name);
  }
  report(name.at, "unknown word " + quoted_word(name.text) + nearest_words(name.text, right));
}

template <class Value>
Perhaps<Value> WordsReader::parse(const YamlNode& name, const Located<std::string>& said) {
  if constexpr (std::is_same_v<Value, std::string>) {
    return said;
  } else if constexpr (std::is_constructible_v<Value, milliseconds>) {
    return time<Value>(name, said);
  } else {
    return one_of_spellings<Value>(name, said);
  }
}

template <class Time>
Perhaps<Time> WordsReader::time(const YamlNode& name, const Located<std::string>& said) {
  const std::string before = quoted_word(name.text) + ": ";
  if (said.value == Endless<Time>::word) return Located<Time>{Endless<Time>::value, said.at};
  if (!Endless<Time>::word.empty() && said.value == Endless<Time>::word_of_other) {
    report(said.at, before + Endless<Time>::sentence);
    return std::nullopt;
  }
  const Duration length = parse_duration(said.value);
  if (const auto* mistake = std::get_if<std::string>(&length)) {
    const std::string word(Endless<Time>::word);
    report(said.at, before + *mistake + (word.empty() ? word : ", or '" + word + "'"));
    return std::nullopt;
  }
  const milliseconds time = std::get<milliseconds>(length);
  if (std::is_same_v<Time, Lease> && time < shortest_lease) {
    report(said.at, before + quoted_word(said.value) + " is too short; expected at least 10ms");
    return std::nullopt;
  }
  return Located<Time>{Time(time), said.at};
}

template <class Value>
Perhaps<Value> WordsReader::one_of_spellings(const YamlNode& name,
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

void WordsReader::check_hold_for(const PolicyWords& words) {
  if (!words.hold_for || !words.lease || words.lease->value.is_watchdog()) return;
  if (words.hold_for->value > words.lease->value.length(milliseconds(0))) {
    report(words.hold_for->at,
           "'hold_for' is longer than the lease, which ends it earlier; expected a longer lease");
  }
}

}  // namespace latchkey::detail
