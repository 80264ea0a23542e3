// Documents that libmongoc does not survive: SECURITY.md lists them.
#pragma once

#include <cstdint>
#include <string>

#include "stores/mongodb/bson.hpp"

namespace latchkey::fuzz {

/// Whether libmongoc can copy a greeting, which it does element by element.
inline bool can_be_copied(const bson_t& document) {
  bson_iter_t each;
  if (!::bson_iter_init(&each, &document)) return false;
  bson_t copy;
  ::bson_init(&copy);
  bool is_good = true;
  while (is_good && ::bson_iter_next(&each)) {
    is_good = ::bson_append_iter(&copy, nullptr, 0, &each);
  }
  ::bson_destroy(&copy);
  return is_good;
}
/// libmongoc ends the process if an error has the code 0, and if it cannot copy a greeting.
inline bool ends_libmongoc(const std::string& content, bool greets) {
  bson_t view;
  bson_iter_t whole, code;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(content.data());
  if (!::bson_init_static(&view, bytes, content.size())) return greets;
  if (greets && !can_be_copied(view)) return true;
  for (const char* const path : {"code", "writeConcernError.code"}) {
    if (::bson_iter_init(&whole, &view) && ::bson_iter_find_descendant(&whole, path, &code) &&
        BSON_ITER_HOLDS_NUMBER(&code) &&
        static_cast<std::uint32_t>(::bson_iter_as_int64(&code)) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace latchkey::fuzz
