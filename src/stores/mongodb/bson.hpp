// Builds BSON documents and reads them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bson/bson.h>

#include <compare>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v1::detail::mongodb {

/// Milliseconds since 1970 by the server's clock: a BSON date. A date read from a reply is within
/// `latest` of 1970, and so is every lease, so sums and differences of them are times, too.
struct Date {
  static constexpr std::int64_t latest = 8'640'000'000'000'000;  ///< JavaScript's last one

  std::int64_t milliseconds = 0;

  friend constexpr auto operator<=>(Date, Date) noexcept = default;
};

/// The `_id` of a key. A key that is valid UTF-8 without a zero byte is a BSON string, any other is
/// BSON binary data, so two keys never have the same `_id`.
struct Key {
  std::string_view bytes;
};

/// A BSON document.
class Bson {
 public:
  Bson() noexcept { ::bson_init(&value_); }
  explicit Bson(const bson_t& other) { ::bson_copy_to(&other, &value_); }
  Bson(const Bson& other) : Bson(other.value_) {}
  Bson(Bson&& other) noexcept : Bson() { swap(other); }
  Bson& operator=(Bson other) noexcept {
    swap(other);
    return *this;
  }
  ~Bson() { ::bson_destroy(&value_); }

  [[nodiscard]] const bson_t& get() const noexcept { return value_; }

  void append(std::string_view name, const Bson& value);
  void append(std::string_view name, const std::vector<Bson>& array);
  void append(std::string_view name, std::string_view value);
  void append(std::string_view name, std::int64_t value);
  void append(std::string_view name, Date value);
  void append(std::string_view name, Key value);
  void append_flag(std::string_view name, bool value);

 private:
  void swap(Bson& other) noexcept;

  bson_t value_;
};

inline void append_fields(Bson& /*document*/) {}

template <class Value, class... Rest>
void append_fields(Bson& document, std::string_view name, const Value& value, const Rest&... rest) {
  if constexpr (std::same_as<Value, bool>) {
    document.append_flag(name, value);
  } else if constexpr (std::integral<Value>) {
    document.append(name, static_cast<std::int64_t>(value));
  } else if constexpr (std::convertible_to<const Value&, std::string_view>) {
    document.append(name, std::string_view(value));
  } else {
    document.append(name, value);
  }
  append_fields(document, rest...);
}

/// `doc("owner", id, "lease", 30000)` is {owner: id, lease: NumberLong(30000)}.
template <class... Fields>
[[nodiscard]] Bson doc(const Fields&... fields) {
  Bson document;
  append_fields(document, fields...);
  return document;
}

/// {$exists: false}
[[nodiscard]] Bson absent();
/// {$exists: true}
[[nodiscard]] Bson present();

[[nodiscard]] bool has(const bson_t& document, const char* path);
[[nodiscard]] bool is_null(const bson_t& document, const char* path);
/// Reads one field. Empty: there is none of this type. A path has dots. A number may have a
/// fraction of zero; a date is one that a clock may show.
[[nodiscard]] std::optional<std::string> text_at(const bson_t& document, const char* path);
[[nodiscard]] std::optional<std::int64_t> integer_at(const bson_t& document, const char* path);
[[nodiscard]] std::optional<Date> date_at(const bson_t& document, const char* path);
[[nodiscard]] std::optional<bool> flag_at(const bson_t& document, const char* path);
[[nodiscard]] std::optional<Bson> document_at(const bson_t& document, const char* path);
/// The documents of an array. Empty: there is no array, or something else is in it.
[[nodiscard]] std::optional<std::vector<Bson>> documents_at(const bson_t& document,
                                                            const char* path);
/// Whether `document` has each field of `fields` with the same value, and in arrays and documents
/// each element. Operators such as {$exists: false}, and fields that are in a part of `except`,
/// such as `$set`, are not compared.
[[nodiscard]] bool agrees(const bson_t& document, const bson_t& fields, const bson_t& except);
/// The bytes of `_id`: a key. Empty: it is of another type.
[[nodiscard]] std::optional<std::string> key_of(const bson_t& document);

}  // namespace latchkey::inline v1::detail::mongodb
