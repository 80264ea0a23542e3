// Checks whether a parsed key fits a schema, as key.hpp does at compile time for a key in code.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/parsed_key.hpp>

namespace latchkey::inline v1::detail {

class Binder {
 public:
  Binder(const ParsedKey& key, Schema schema) : key_(key), schema_(schema) {}

  /// Throws KeyError.
  BoundPath bind(std::uint16_t path) const;

 private:
  using TypeInfo = reflect::TypeInfo;

  std::size_t argument(const Node& path) const;
  BoundStep step(const Node& path, const Node& node, const TypeInfo& type) const;
  BoundStep member(const Node& node, const TypeInfo& type) const;
  const TypeInfo* through(BoundPath& path, const TypeInfo* type, bool last) const;
  void check_leaf(const Node& path, const TypeInfo& type) const;

  [[noreturn]] void refuse(const Node& at, const std::string& sentence) const;
  [[noreturn]] void refuse_unknown(const Node& at, const char* kind, const std::string& rest) const;
  [[noreturn]] void refuse_name(const Node& path) const;
  [[noreturn]] void refuse_member(const Node& node, const TypeInfo& type) const;

  const ParsedKey& key_;
  Schema schema_;
};

}  // namespace latchkey::inline v1::detail
