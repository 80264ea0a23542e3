// The decorated methods of this program as JSON, for `latchkey check --sites`.
// SPDX-License-Identifier: BSL-1.0
#include <map>
#include <ostream>
#include <string_view>
#include <vector>

#include <latchkey/detail/reflect/type_info.hpp>
#include <latchkey/install.hpp>

#include "install/lock_places.hpp"

namespace latchkey::inline v1 {
namespace {

using reflect::TypeInfo;

void write_text(std::ostream& out, std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  out << '"';
  for (const char byte : text) {
    if (byte == '"' || byte == '\\') {
      out << '\\' << byte;
    } else if (static_cast<unsigned char>(byte) < 0x20) {
      out << "\\u00" << digits[static_cast<unsigned char>(byte) >> 4U]
          << digits[static_cast<unsigned char>(byte) & 0xFU];
    } else {
      out << byte;
    }
  }
  out << '"';
}

/// `"name":"text"`.
void write_member(std::ostream& out, std::string_view name, std::string_view text) {
  write_text(out, name);
  out << ':';
  write_text(out, text);
}
void write_member(std::ostream& out, std::string_view name, bool value) {
  write_text(out, name);
  out << ':' << (value ? "true" : "false");
}

/// The list of types. Types refer to each other by their positions in it.
class TypeList {
 public:
  std::size_t place_of(const TypeInfo& type) {
    const auto [found, is_new] = places_.try_emplace(&type, types_.size());
    if (is_new) types_.push_back(&type);
    return found->second;
  }

  /// Writing a type may append the types of its members.
  void write(std::ostream& out) {
    out << '[';
    for (std::size_t each = 0; each < types_.size(); ++each) {
      out << (each == 0 ? "\n" : ",\n");
      write(out, *types_[each]);
    }
    out << ']';
  }

 private:
  void write(std::ostream& out, const TypeInfo& type) {
    out << '{';
    write_member(out, "name", type.name);
    out << ",\"shape\":" << static_cast<int>(type.shape)
        << ",\"text_from\":" << static_cast<int>(type.text_from) << ',';
    write_member(out, "integer_keys", type.integer_keys);
    out << ',';
    write_member(out, "text_keys", type.text_keys);
    out << ',';
    write_member(out, "declared", type.declared);
    if (type.target != nullptr) out << ",\"target\":" << place_of(*type.target);
    out << ",\"fields\":[";
    for (std::size_t field = 0; field < type.field_count; ++field) {
      out << (field == 0 ? "{" : ",{");
      write_member(out, "name", type.fields[field].name);
      out << ",\"type\":" << place_of(*type.fields[field].type) << '}';
    }
    out << "]}";
  }

  std::map<const TypeInfo*, std::size_t> places_;
  std::vector<const TypeInfo*> types_;
};

void write_lock(std::ostream& out, const detail::LockPlace& place, TypeList& types) {
  out << '{';
  write_member(out, "name", place.name);
  out << ',';
  write_member(out, "method", place.method);
  out << ',';
  write_member(out, "where", place.where);
  out << ',';
  write_member(out, "file", place.file);
  out << ",\"line\":" << place.line << ',';
  write_member(out, "result", place.result_type);
  out << ',';
  write_member(out, place.traits.by_policy ? "policy" : "key", place.text);
  const std::pair<std::string_view, std::string_view> said[] = {
      {"said", place.said},
      {"on_timeout", place.traits.on_timeout},
      {"on_unavailable", place.traits.on_unavailable},
      {"on_lost", place.traits.on_lost}};
  for (const auto& [name, text] : said) {
    out << ',';
    write_member(out, name, text);
  }
  const std::pair<std::string_view, bool> facts[] = {
      {"alone", place.alone},
      {"can_be_skipped", place.traits.can_be_skipped},
      {"never_throws", place.traits.never_throws},
      {"says_timeout", place.traits.says_timeout},
      {"says_unavailable", place.traits.says_unavailable},
      {"for_scope", place.traits.for_scope},
      {"once", place.traits.once}};
  for (const auto& [name, value] : facts) {
    out << ',';
    write_member(out, name, value);
  }
  out << ",\"arguments\":[";
  bool first = true;
  for (const SchemaArgument& argument : place.arguments) {
    out << (first ? "{" : ",{");
    first = false;
    write_member(out, "name", argument.name);
    out << ",\"type\":" << types.place_of(*argument.type) << '}';
  }
  out << "]}";
}

}  // namespace

void dump_sites(std::ostream& out) {
  const detail::Program program = detail::this_program();
  TypeList types;
  out << "{\"format\":1,\"schemes\":[";
  for (std::size_t each = 0; each < program.schemes.size(); ++each) {
    if (each > 0) out << ',';
    write_text(out, program.schemes[each]);
  }
  // Programs without them write what earlier versions wrote.
  if (!program.unbound.empty()) {
    out << "],\"unbound\":[";
    for (std::size_t each = 0; each < program.unbound.size(); ++each) {
      if (each > 0) out << ',';
      write_text(out, program.unbound[each]);
    }
  }
  out << "],\"locks\":[";
  for (std::size_t each = 0; each < program.places.size(); ++each) {
    out << (each == 0 ? "\n" : ",\n");
    write_lock(out, program.places[each], types);
  }
  out << "],\"types\":";
  types.write(out);
  out << "}\n";
}

}  // namespace latchkey::inline v1
