// Reads single settings, and the settings of one policy.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/policy_file.hpp"
#include "policy/settings.hpp"
#include "policy/yaml_tree.hpp"

namespace latchkey::inline v1::detail {

class SettingsReader {
 public:
  /// `text` is that of the whole file and outlives this.
  SettingsReader(std::string_view text, Problems& problems);

  /// Which of defaults, policies and rules the settings stand in.
  using Where = bool PolicySetting::*;
  /// `name` is the node that the settings belong to; error texts quote it.
  [[nodiscard]] PolicySettings settings(const YamlNode& name, const YamlNode& map, Where where);

  /// The text of `value`, the value of `name`. Reports a problem if it is not a text.
  [[nodiscard]] Perhaps<std::string> text(const YamlNode& name, const YamlNode& value);

  /// The entries of a map whose names are texts, each name once.
  using Entries = std::vector<std::pair<const YamlNode&, const YamlNode&>>;
  [[nodiscard]] Entries entries(const YamlNode& name, const YamlNode& map);

  void report(Place at, std::string sentence);

 private:
  void setting(PolicySettings& settings, const YamlNode& name, const YamlNode& value, Where where);
  template <class Value>
  [[nodiscard]] Perhaps<Value> parse(const YamlNode& name, const Located<std::string>& said);
  template <class Time>
  [[nodiscard]] Perhaps<Time> time(const YamlNode& name, const Located<std::string>& said);
  template <class Value>
  [[nodiscard]] Perhaps<Value> one_of_spellings(const YamlNode& name,
                                                const Located<std::string>& said);
  void unknown_setting(const YamlNode& name, Where where);
  [[nodiscard]] Perhaps<KeyTexts> keys(const YamlNode& name, const YamlNode& value);
  void no_text(const YamlNode& name, const YamlNode& value);
  void check_cut(const YamlNode& name, const YamlNode& value);
  [[nodiscard]] Perhaps<std::uint32_t> permits(const YamlNode& name,
                                               const Located<std::string>& said);
  /// The times of one group fit each other.
  void check_times(const PolicySettings& settings);
  /// The settings of one group that depend on the type fit each other.
  void check_type(const PolicySettings& settings);
  [[nodiscard]] std::string_view line(Place at) const;

  std::vector<std::string_view> lines_;
  Problems& problems_;
};

}  // namespace latchkey::inline v1::detail
