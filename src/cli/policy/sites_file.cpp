// The decorated methods of another program, as written by latchkey::dump_sites.
// SPDX-License-Identifier: BSL-1.0
#include "cli/policy/sites_file.hpp"

#include <cstddef>
#include <exception>
#include <fstream>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <latchkey/detail/reflect/shape.hpp>

#include "cli/connection.hpp"

namespace latchkey::inline v1::cli {

using nlohmann::json;

struct SitesFile::Reader {
  /// The most pointers to pointers that are followed.
  static constexpr std::size_t longest_chain = 64;

  SitesFile& file;

  std::string_view keep(const json& text) const {
    return file.names_.emplace_back(text.get<std::string>());
  }

  /// Files of older versions do not have it.
  [[nodiscard]] const char* strategy(const json& lock, const char* name) const {
    return file.names_.emplace_back(lock.value(name, std::string())).c_str();
  }

  [[nodiscard]] const reflect::TypeInfo* type(const json& place) const {
    return &file.types_.at(place.get<std::size_t>());
  }

  /// `last`: the largest value of its type.
  template <auto last>
  static auto enumerator(const json& number) {
    const int value = number.get<int>();
    if (value < 0 || value > static_cast<int>(last)) {
      throw UsageError("it was written by another version of latchkey");
    }
    return static_cast<decltype(last)>(value);
  }

  void read(const json& root) const {
    if (root.at("format") != 1) throw UsageError("it was written by another version of latchkey");
    file.program_.schemes = root.at("schemes").get<std::vector<std::string>>();
    file.program_.unbound = root.value("unbound", std::vector<std::string>());
    read_types(root.at("types"));
    check_types();
    for (const json& lock : root.at("locks")) read_lock(lock);
  }

  /// A key is read through pointers and references as far as they go: each has a target, and none
  /// leads back to itself.
  void check_types() const {
    for (const reflect::TypeInfo& each : file.types_) {
      const reflect::TypeInfo* type = &each;
      for (std::size_t steps = 0; reflect::is_looked_through(type->shape); ++steps) {
        if (type->target == nullptr || steps == longest_chain) {
          throw UsageError("the type '" + std::string(each.name) + "' has no target");
        }
        type = type->target;
      }
      const bool holds =
          each.shape == reflect::Shape::sequence || each.shape == reflect::Shape::map;
      if (holds && each.target == nullptr) {
        throw UsageError("the type '" + std::string(each.name) + "' has no elements");
      }
    }
  }

  void read_types(const json& types) const {
    file.types_.resize(types.size());  // before anything refers to an element
    for (std::size_t each = 0; each < types.size(); ++each) {
      const json& from = types[each];
      reflect::TypeInfo& to = file.types_[each];
      to.name = keep(from.at("name"));
      to.shape = enumerator<reflect::Shape::other>(from.at("shape"));
      to.text_from = enumerator<reflect::TextFrom::time>(from.at("text_from"));
      to.integer_keys = from.at("integer_keys").get<bool>();
      to.text_keys = from.at("text_keys").get<bool>();
      to.declared = from.at("declared").get<bool>();
      if (from.contains("target")) to.target = type(from["target"]);
      std::vector<reflect::FieldInfo>& fields = file.fields_.emplace_back();
      for (const json& field : from.at("fields")) {
        fields.push_back({keep(field.at("name")), type(field.at("type")), false, nullptr});
      }
      to.fields = fields.data();
      to.field_count = fields.size();
    }
  }

  void read_lock(const json& from) const {
    std::vector<SchemaArgument> arguments;
    for (const json& argument : from.at("arguments")) {
      arguments.push_back({keep(argument.at("name")), type(argument.at("type"))});
    }
    const bool by_policy = from.contains("policy");
    file.program_.places.push_back(
        {.name = from.at("name").get<std::string>(),
         .method = from.at("method").get<std::string>(),
         .where = from.at("where").get<std::string>(),
         .file = from.at("file").get<std::string>(),
         .line = from.at("line").get<std::size_t>(),
         .result_type = from.at("result").get<std::string>(),
         .text = from.at(by_policy ? "policy" : "key").get<std::string>(),
         .said = from.value("said", std::string()),
         .traits = {.by_policy = by_policy,
                    .can_be_skipped = from.at("can_be_skipped").get<bool>(),
                    .never_throws = from.at("never_throws").get<bool>(),
                    .says_timeout = from.at("says_timeout").get<bool>(),
                    .says_unavailable = from.at("says_unavailable").get<bool>(),
                    .for_scope = from.at("for_scope").get<bool>(),
                    .on_timeout = strategy(from, "on_timeout"),
                    .on_unavailable = strategy(from, "on_unavailable"),
                    .on_lost = strategy(from, "on_lost"),
                    .once = from.value("once", false)},
         .arguments = std::move(arguments),
         .alone = from.at("alone").get<bool>()});
  }
};

SitesFile::SitesFile(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw UsageError("cannot read '" + path + "'");
  try {
    Reader{*this}.read(json::parse(stream));
  } catch (const std::exception& error) {
    throw UsageError("'" + path + "' was not written by latchkey::dump_sites: " + error.what());
  }
}

}  // namespace latchkey::inline v1::cli
