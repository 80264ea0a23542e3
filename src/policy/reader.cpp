// From the text of latchkey.yaml to its settings.
// SPDX-License-Identifier: BSL-1.0
#include "policy/reader.hpp"

#include <string>
#include <utility>
#include <vector>

#include "core/text/nearest.hpp"
#include "policy/settings.hpp"
#include "policy/settings_reader.hpp"
#include "policy/yaml_tree.hpp"

namespace latchkey::inline v1::detail {
namespace {

class Reader {
 public:
  Reader(std::string_view text, const Environment& environment, Problems& problems)
      : environment_(environment), problems_(problems), reader_(text, problems) {}

  PolicyFile read(const YamlNode& root) {
    if (root.broken) return std::move(file_);
    if (root.kind != YamlNode::Kind::map) {
      reader_.report({1, 1}, "not a policy file; expected backends, defaults, policies and rules");
      return std::move(file_);
    }
    const YamlNode whole{.kind = YamlNode::Kind::text, .text = "the file"};
    for (const auto& entry : reader_.entries(whole, root)) section(entry.first, entry.second);
    check_backends();
    return std::move(file_);
  }

 private:
  void section(const YamlNode& name, const YamlNode& value) {
    if (name.text == "backends") {
      backends(name, value);
    } else if (name.text == "backend") {
      file_.backend = reader_.text(name, value);
    } else if (name.text == "prefix") {
      file_.prefix = reader_.text(name, value);
    } else if (name.text == "defaults") {
      file_.defaults = reader_.settings(name, value, &PolicySetting::in_defaults);
    } else if (name.text == "policies") {
      file_.policies_at = name.at;
      for (const auto& entry : reader_.entries(name, value)) {
        file_.policies.push_back(
            {{entry.first.text, entry.first.at},
             reader_.settings(entry.first, entry.second, &PolicySetting::in_policies)});
      }
    } else if (name.text == "rules") {
      file_.rules_at = name.at;
      for (const auto& entry : reader_.entries(name, value)) {
        file_.rules.push_back(
            {{entry.first.text, entry.first.at},
             reader_.settings(entry.first, entry.second, &PolicySetting::in_rules)});
      }
    } else {
      reader_.report(name.at, "unknown section " + quoted_word(name.text) +
                                  nearest_words(name.text, sections));
    }
  }

  void backends(const YamlNode& name, const YamlNode& value) {
    for (const auto& entry : reader_.entries(name, value)) {
      BackendEntry backend;
      backend.name = {entry.first.text, entry.first.at};
      if (const Perhaps<std::string> uri = reader_.text(entry.first, entry.second)) {
        Expanded expanded = expand_secrets(uri->value, uri->at, environment_, problems_);
        backend.uri = {std::move(expanded.text), uri->at};
        backend.secrets = std::move(expanded.secrets);
      }
      // A backend without a URI is kept, so that a reference to it is not a second mistake.
      file_.backends.push_back(std::move(backend));
    }
  }

  /// Every backend and policy that is referred to exists.
  void check_backends() {
    if (file_.backend) {
      known_backend(*file_.backend);
    } else if (file_.backends.size() > 1) {
      reader_.report(
          file_.backends.front().name.at,
          "several backends and no default; expected the one that calls use, as in backend: " +
              file_.backends.front().name.value);
    }
    for (const NamedPolicy& policy : file_.policies) {
      if (policy.settings.backend) known_backend(*policy.settings.backend);
    }
    for (const Rule& rule : file_.rules) {
      if (rule.settings.backend) known_backend(*rule.settings.backend);
      if (rule.settings.policy) known_policy(*rule.settings.policy);
    }
  }

  void known_backend(const Located<std::string>& name) {
    if (file_.find_backend(name.value) != nullptr) return;
    std::vector<std::string_view> right;
    right.reserve(file_.backends.size());
    for (const BackendEntry& entry : file_.backends) right.push_back(entry.name.value);
    reader_.report(name.at,
                   "unknown backend " + quoted_word(name.value) + nearest_words(name.value, right));
  }

  void known_policy(const Located<std::string>& name) {
    if (file_.find_policy(name.value) != nullptr) return;
    std::vector<std::string_view> right;
    right.reserve(file_.policies.size());
    for (const NamedPolicy& policy : file_.policies) right.push_back(policy.name.value);
    reader_.report(name.at,
                   "unknown policy " + quoted_word(name.value) + nearest_words(name.value, right));
  }

  const Environment& environment_;
  Problems& problems_;
  SettingsReader reader_;
  PolicyFile file_{};
};

}  // namespace

PolicyFile read_policies(std::string_view text, const Environment& environment,
                         Problems& problems) {
  const YamlNode root = read_yaml(text, problems);
  return Reader(text, environment, problems).read(root);
}

}  // namespace latchkey::inline v1::detail
