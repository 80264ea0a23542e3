// The options of the URIs of stores.
// SPDX-License-Identifier: BSL-1.0
#include "backend/uri/uri_options.hpp"

#include <latchkey/detail/in_quotes.hpp>
#include "core/text/number.hpp"

namespace latchkey::inline v1::detail {

UriValue::UriValue(const UriSyntax& syntax, const UriOption& option)
    : syntax_(syntax),
      name_(option.name),
      text_(syntax.decoded(option.value, "value of the option " + in_quotes(option.name))) {}

int UriValue::number(int least, int most) const {
  int number = 0;
  if (!read_number(text_, number) || number < least || number > most) {
    refuse("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

std::string_view new_name_of(std::string_view name) noexcept {
  constexpr std::pair<std::string_view, std::string_view> renamed[] = {
      {"cafile", "tls_ca"},
      {"cert", "tls_cert"},
      {"key", "tls_key"},
      {"ssl_ca", "tls_ca"},
      {"ssl_cert", "tls_cert"},
      {"ssl_key", "tls_key"},
      {"servername", "tls_server_name"},
  };
  for (const auto& [old_name, new_name] : renamed) {
    if (old_name == name) return new_name;
  }
  return {};
}

}  // namespace latchkey::inline v1::detail
