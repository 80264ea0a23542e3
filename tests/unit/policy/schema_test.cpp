// docs/latchkey.schema.json accepts what the reader accepts: these tables generate it.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>

#include <latchkey/permits.hpp>

#include "core/text/duration.hpp"
#include "policy/settings.hpp"

namespace latchkey::detail {
namespace {

constexpr const char* time_pattern = "^(0|[0-9]+(ms|s|m|min|h|d))$";

template <class Names>
std::string one_of(const Names& names) {
  std::string text;
  for (const auto& [name, value] : names) {
    text += (text.empty() ? "\"" : ", \"") + std::string(name) + "\"";
  }
  return "{\"enum\": [" + text + "]}";
}

/// YAML takes 0 for a number.
std::string a_time(std::string_view or_word = {}) {
  const std::string word = or_word.empty() ? "" : "{\"const\": \"" + std::string(or_word) + "\"}, ";
  return "{\"anyOf\": [" + word + R"({"const": 0}, {"type": "string", "pattern": ")" +
         time_pattern + "\"}]}";
}

std::string schema_of(const SettingMember<std::string>&) {
  return R"({"type": "string", "minLength": 1})";
}
std::string schema_of(const SettingMember<KeyTexts>&) {
  const std::string one = R"({"type": "string", "minLength": 1})";
  return "{\"anyOf\": [" + one + R"(, {"type": "array", "minItems": 1, "items": )" + one + "}]}";
}
std::string schema_of(const SettingMember<Wait>&) { return a_time(endless_wait); }
std::string schema_of(const SettingMember<Lease>&) { return a_time(endless_lease); }
std::string schema_of(const SettingMember<std::chrono::milliseconds>& member) {
  return a_time(member.said == &PolicySettings::cache ? learned_cache : std::string_view());
}
std::string schema_of(const SettingMember<std::uint32_t>&) {
  return R"({"type": "integer", "minimum": 1, "maximum": )" + std::to_string(most_permits) + "}";
}
// YAML reads `true` as a truth value, not as a text.
std::string schema_of(const SettingMember<Fenced>&) { return R"({"enum": [true]})"; }
template <class Value>
std::string schema_of(const SettingMember<Value>&) {
  return one_of(Spellings<Value>::names);
}

std::string words(bool PolicySetting::* where, const std::string& indent) {
  std::string text = indent + "\"type\": \"object\",\n" + indent +
                     "\"additionalProperties\": false,\n" + indent + "\"properties\": {";
  bool first = true;
  for (const PolicySetting& setting : policy_settings) {
    if (!(setting.*where)) continue;
    std::string value =
        std::visit([](const auto& member) { return schema_of(member); }, setting.member);
    if (setting.name == "on_timeout" && where == &PolicySetting::in_defaults) {
      value = R"({"enum": ["raise", "skip"]})";
    }
    text += (first ? "\n" : ",\n") + indent + "  \"" + std::string(setting.name) + "\": " + value;
    first = false;
  }
  return text + "\n" + indent + "}\n";
}

std::string named(const std::string& value) {
  return "{\n      \"type\": \"object\",\n      \"additionalProperties\": " + value + "\n    }";
}

std::string section(std::string_view name) {
  const std::string text = R"({"type": "string", "minLength": 1})";
  if (name == "backends") return named(text);
  if (name == "policies") return named(R"({"$ref": "#/$defs/policy"})");
  if (name == "rules") return named(R"({"$ref": "#/$defs/rule"})");
  if (name == "defaults") return "{\"$ref\": \"#/$defs/defaults\"}";
  return text;
}

std::string schema() {
  std::string text =
      "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
      "  \"title\": \"latchkey.yaml\",\n"
      "  \"description\": \"Policies of latchkey: see policies.md\",\n"
      "  \"type\": \"object\",\n  \"additionalProperties\": false,\n"
      "  \"required\": [\"backends\"],\n  \"properties\": {";
  bool first = true;
  for (const std::string_view name : sections) {
    text += (first ? "\n    \"" : ",\n    \"") + std::string(name) + "\": " + section(name);
    first = false;
  }
  text += "\n  },\n  \"$defs\": {\n    \"defaults\": {\n";
  text += words(&PolicySetting::in_defaults, "      ") + "    },\n    \"policy\": {\n";
  text += words(&PolicySetting::in_policies, "      ") + "    },\n    \"rule\": {\n";
  return text + words(&PolicySetting::in_rules, "      ") + "    }\n  }\n}\n";
}

TEST(Schema, IsWhatTheReaderAccepts) {
  const std::string here = __FILE__;
  const std::string path = here.substr(0, here.rfind("/tests/")) + "/docs/latchkey.schema.json";
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), schema()) << "write what this test expects to docs/latchkey.schema.json";
}

TEST(Schema, AcceptsTheSameDurationsAsTheReader) {
  const std::regex pattern(time_pattern);
  for (const char* time :
       {"0", "0s",   "250ms", "3s",   "5m",   "5min", "2h",  "1d",  "3",   "-3s", "3 s", "s",
        "",  "3sec", "3mins", "1.5s", "0x3s", "3S",   "+3s", " 3s", "3s ", "00",  "-0"}) {
    const bool accepted = std::holds_alternative<std::chrono::milliseconds>(parse_duration(time));
    EXPECT_EQ(std::regex_match(time, pattern), accepted) << time;
  }
}

}  // namespace
}  // namespace latchkey::detail
