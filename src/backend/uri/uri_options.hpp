// The options of the URIs of stores, each of which has a table of them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "backend/uri/tls_options.hpp"
#include "backend/uri/uri_syntax.hpp"

namespace latchkey::inline v1::detail {

/// The value of an option, decoded. All members throw std::invalid_argument with one sentence.
class UriValue {
 public:
  UriValue(const UriSyntax& syntax, const UriOption& option);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  /// A time of `least` to `most`, as UriSyntax::duration reads it.
  [[nodiscard]] std::chrono::milliseconds duration(std::chrono::milliseconds least,
                                                   std::chrono::milliseconds most,
                                                   std::string_view expected) const {
    return syntax_.duration({name_, text_}, least, most, expected);
  }
  /// A whole number of `least` to `most`.
  [[nodiscard]] int number(int least, int most) const;
  /// The value that has the name of one of `values`.
  template <class Value, std::size_t N>
  [[nodiscard]] Value one_of(const std::pair<std::string_view, Value> (&values)[N]) const {
    std::string expected;
    for (std::size_t at = 0; at < N; ++at) {
      if (values[at].first == text_) return values[at].second;
      expected += at == 0 ? "" : at + 1 == N ? " or " : ", ";
      expected += values[at].first;
    }
    refuse(expected);
  }
  /// `expected`: what is right, as a clause.
  [[noreturn]] void refuse(std::string_view expected) const {
    syntax_.refuse_value(name_, text_, expected);
  }

 private:
  const UriSyntax& syntax_;
  std::string_view name_;
  std::string text_;
};

/// An option of a store, whose `Uri` is what its URI is parsed into.
template <class Uri>
struct KnownOption {
  std::string_view name;
  void (*store)(Uri& uri, const UriValue& value);
  /// Names the part without which a URI cannot have the option, such as "rediss://"; empty: none.
  std::string (*lacks)(const Uri& uri) = nullptr;

  [[nodiscard]] std::string missing(const Uri& uri) const {
    return lacks != nullptr ? lacks(uri) : std::string();
  }
};

/// Stores the value of a KnownOption that is a text, or yes or no.
template <auto Member, class Uri>
void store_value(Uri& uri, const UriValue& value) {
  if constexpr (std::is_same_v<decltype(Member), bool Uri::*>) {
    uri.*Member = value.one_of<bool>({{"yes", true}, {"no", false}});
  } else {
    uri.*Member = value.text();
  }
}

/// The name that replaces `name`, which an earlier version had; empty: there is none.
[[nodiscard]] std::string_view new_name_of(std::string_view name) noexcept;

/// Reads one option of a table; `false`: it is not in the table.
template <class Uri, std::size_t N>
bool read_known_option(const UriSyntax& syntax, const UriOption& option,
                       const std::array<KnownOption<Uri>, N>& known, Uri& uri) {
  const auto* const found = std::ranges::find(known, option.name, &KnownOption<Uri>::name);
  if (found == known.end()) return false;
  const std::string missing = found->missing(uri);
  if (!missing.empty()) syntax.refuse_without(option.name, missing);
  found->store(uri, UriValue(syntax, option));
  return true;
}

/// Reads all options of a URI.
template <class Uri, std::size_t N>
void read_options(const UriSyntax& syntax, const UriParts& parts,
                  const std::array<KnownOption<Uri>, N>& known, Uri& uri) {
  if (!parts.has_options) return;
  for (const UriOption& option : syntax.options(parts.options)) {
    if (read_known_option(syntax, option, known, uri)) continue;
    const std::string_view new_name = new_name_of(option.name);
    std::string names;
    for (const KnownOption<Uri>& each : known) {
      if (each.name == new_name) syntax.refuse_old_name(option.name, new_name);
      if (!each.missing(uri).empty()) continue;
      names += names.empty() ? "" : ", ";
      names += each.name;
    }
    syntax.refuse_option(option.name, names);
  }
}

/// An option whose text is a member of the TlsOptions `tls` of a URI.
template <auto Member, class Uri>
constexpr KnownOption<Uri> tls_option(std::string_view name) {
  return {name, [](Uri& uri, const UriValue& value) { uri.tls.*Member = value.text(); },
          [](const Uri& uri) { return uri.tls.missing_scheme; }};
}
template <class Uri>
inline constexpr auto tls_ca = tls_option<&TlsOptions::ca, Uri>("tls_ca");
template <class Uri>
inline constexpr auto tls_cert = tls_option<&TlsOptions::certificate, Uri>("tls_cert");
template <class Uri>
inline constexpr auto tls_key = tls_option<&TlsOptions::key, Uri>("tls_key");
template <class Uri>
inline constexpr auto tls_server_name =
    tls_option<&TlsOptions::server_name, Uri>("tls_server_name");

/// How a database keeps locks: in latchkey's own way, or as ShedLock.
enum class LockSchema : std::uint8_t { latchkey, shedlock };

/// An option whose value is the LockSchema `schema` of a URI.
template <class Uri>
inline constexpr KnownOption<Uri> lock_schema{
    "schema", [](Uri& uri, const UriValue& value) {
      uri.schema = value.template one_of<LockSchema>(
          {{"latchkey", LockSchema::latchkey}, {"shedlock", LockSchema::shedlock}});
    }};

}  // namespace latchkey::inline v1::detail
