// Builds BSON documents and reads them.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mongodb/bson.hpp"

#include <cmath>
#include <stdexcept>

namespace latchkey::inline v1::detail::mongodb {
namespace {

int length(std::string_view text) { return static_cast<int>(text.size()); }

void check(bool appended) {
  if (!appended) throw std::length_error("a BSON document would be too large");
}

// No std::optional of an iterator: a template argument loses the alignment of libbson's types.
bool find_value(const bson_t& document, const char* path, bson_iter_t& found) {
  bson_iter_t whole;
  return ::bson_iter_init(&whole, &document) && ::bson_iter_find_descendant(&whole, path, &found);
}

bool is_embedded(const bson_iter_t& at) {
  return BSON_ITER_HOLDS_DOCUMENT(&at) || BSON_ITER_HOLDS_ARRAY(&at);
}

Bson embedded(const bson_iter_t& at) {
  const std::uint8_t* data = nullptr;
  std::uint32_t size = 0;
  if (BSON_ITER_HOLDS_ARRAY(&at)) {
    ::bson_iter_array(&at, &size, &data);
  } else {
    ::bson_iter_document(&at, &size, &data);
  }
  bson_t view;
  if (data == nullptr || !::bson_init_static(&view, data, size)) return {};
  return Bson(view);
}

std::optional<std::int64_t> number_at(const bson_iter_t& at) {
  if (!BSON_ITER_HOLDS_NUMBER(&at)) return std::nullopt;
  if (!BSON_ITER_HOLDS_DOUBLE(&at)) return ::bson_iter_as_int64(&at);
  const double number = ::bson_iter_double(&at);
  constexpr double exact = 9'007'199'254'740'992;  // beyond it a double skips integers
  if (!(number >= -exact && number <= exact) || number != std::trunc(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

/// {$or: …}, or the value of a field whose filter is {$exists: …}.
bool is_operator(const bson_iter_t& field) {
  if (*::bson_iter_key(&field) == '$') return true;
  bson_iter_t first;
  return BSON_ITER_HOLDS_DOCUMENT(&field) && ::bson_iter_recurse(&field, &first) &&
         ::bson_iter_next(&first) && *::bson_iter_key(&first) == '$';
}

bool has_in_a_part(const bson_t& parts, const char* name) {
  bson_iter_t part, found;
  if (!::bson_iter_init(&part, &parts)) return false;
  while (::bson_iter_next(&part)) {
    if (::bson_iter_recurse(&part, &found) && ::bson_iter_find(&found, name)) return true;
  }
  return false;
}

bool same(const bson_iter_t& shown, const bson_iter_t& expected) {
  if (BSON_ITER_HOLDS_NUMBER(&expected)) {
    return number_at(shown) && number_at(shown) == number_at(expected);
  }
  if (::bson_iter_type(&shown) != ::bson_iter_type(&expected)) return false;
  if (is_embedded(expected)) {
    return agrees(embedded(shown).get(), embedded(expected).get(), Bson().get());
  }
  const auto bytes = [](const bson_iter_t& at) {
    return std::string_view(reinterpret_cast<const char*>(at.raw) + at.d1, at.next_off - at.d1);
  };
  return bytes(shown) == bytes(expected);
}

}  // namespace

void Bson::swap(Bson& other) noexcept {
  // bson_steal empties its source and expects an uninitialized destination.
  bson_t mine;
  ::bson_steal(&mine, &value_);
  ::bson_steal(&value_, &other.value_);
  ::bson_steal(&other.value_, &mine);
}

// Each name goes with its length, which the check does not see.
// NOLINTBEGIN(bugprone-suspicious-stringview-data-usage)
void Bson::append(std::string_view name, const Bson& value) {
  check(::bson_append_document(&value_, name.data(), length(name), &value.get()));
}

void Bson::append(std::string_view name, const std::vector<Bson>& array) {
  Bson elements;
  for (const Bson& element : array) {
    elements.append(std::to_string(::bson_count_keys(&elements.get())), element);
  }
  check(::bson_append_array(&value_, name.data(), length(name), &elements.get()));
}

void Bson::append(std::string_view name, std::string_view value) {
  check(::bson_append_utf8(&value_, name.data(), length(name), value.data(), length(value)));
}

void Bson::append(std::string_view name, std::int64_t value) {
  check(::bson_append_int64(&value_, name.data(), length(name), value));
}

void Bson::append(std::string_view name, Date value) {
  check(::bson_append_date_time(&value_, name.data(), length(name), value.milliseconds));
}

void Bson::append(std::string_view name, Key value) {
  const std::string_view bytes = value.bytes;
  if (::bson_utf8_validate(bytes.data(), bytes.size(), false)) return append(name, bytes);
  check(::bson_append_binary(&value_, name.data(), length(name), BSON_SUBTYPE_BINARY,
                             reinterpret_cast<const std::uint8_t*>(bytes.data()),
                             static_cast<std::uint32_t>(bytes.size())));
}

void Bson::append_flag(std::string_view name, bool value) {
  check(::bson_append_bool(&value_, name.data(), length(name), value));
}
// NOLINTEND(bugprone-suspicious-stringview-data-usage)

Bson absent() { return doc("$exists", false); }
Bson present() { return doc("$exists", true); }

bool has(const bson_t& document, const char* path) {
  bson_iter_t found;
  return find_value(document, path, found);
}

bool is_null(const bson_t& document, const char* path) {
  bson_iter_t found;
  return find_value(document, path, found) && BSON_ITER_HOLDS_NULL(&found);
}

std::optional<std::string> text_at(const bson_t& document, const char* path) {
  bson_iter_t found;
  if (!find_value(document, path, found) || !BSON_ITER_HOLDS_UTF8(&found)) return std::nullopt;
  std::uint32_t size = 0;
  const char* const text = ::bson_iter_utf8(&found, &size);
  return std::string(text, size);
}

std::optional<std::int64_t> integer_at(const bson_t& document, const char* path) {
  bson_iter_t found;
  return find_value(document, path, found) ? number_at(found) : std::nullopt;
}

std::optional<Date> date_at(const bson_t& document, const char* path) {
  bson_iter_t found;
  if (!find_value(document, path, found) || !BSON_ITER_HOLDS_DATE_TIME(&found)) return std::nullopt;
  const std::int64_t time = ::bson_iter_date_time(&found);
  if (time < -Date::latest || time > Date::latest) return std::nullopt;
  return Date{time};
}

std::optional<bool> flag_at(const bson_t& document, const char* path) {
  bson_iter_t found;
  if (!find_value(document, path, found) || !BSON_ITER_HOLDS_BOOL(&found)) return std::nullopt;
  return ::bson_iter_bool(&found);
}

std::optional<Bson> document_at(const bson_t& document, const char* path) {
  bson_iter_t found;
  if (!find_value(document, path, found) || !BSON_ITER_HOLDS_DOCUMENT(&found)) return std::nullopt;
  return embedded(found);
}

std::optional<std::vector<Bson>> documents_at(const bson_t& document, const char* path) {
  bson_iter_t found;
  if (!find_value(document, path, found) || !BSON_ITER_HOLDS_ARRAY(&found)) return std::nullopt;
  const Bson array = embedded(found);
  std::vector<Bson> documents;
  bson_iter_t each;
  if (!::bson_iter_init(&each, &array.get())) return documents;
  while (::bson_iter_next(&each)) {
    if (!BSON_ITER_HOLDS_DOCUMENT(&each)) return std::nullopt;
    documents.push_back(embedded(each));
  }
  return documents;
}

bool agrees(const bson_t& document, const bson_t& fields, const bson_t& except) {
  bson_iter_t field;
  if (!::bson_iter_init(&field, &fields)) return false;
  while (::bson_iter_next(&field)) {
    const char* const name = ::bson_iter_key(&field);
    if (is_operator(field) || has_in_a_part(except, name)) continue;
    bson_iter_t shown;
    if (!::bson_iter_init_find(&shown, &document, name) || !same(shown, field)) return false;
  }
  return true;
}

std::optional<std::string> key_of(const bson_t& document) {
  bson_iter_t found;
  if (!find_value(document, "_id", found)) return std::nullopt;
  if (BSON_ITER_HOLDS_UTF8(&found)) return text_at(document, "_id");
  if (!BSON_ITER_HOLDS_BINARY(&found)) return std::nullopt;
  bson_subtype_t type = BSON_SUBTYPE_BINARY;
  std::uint32_t size = 0;
  const std::uint8_t* data = nullptr;
  ::bson_iter_binary(&found, &type, &size, &data);
  return std::string(reinterpret_cast<const char*>(data), size);
}

}  // namespace latchkey::inline v1::detail::mongodb
