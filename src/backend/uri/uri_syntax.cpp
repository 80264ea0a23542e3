// Splits and decodes the URIs of stores.
// SPDX-License-Identifier: BSL-1.0
#include "backend/uri/uri_syntax.hpp"

#include <charconv>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <variant>

#include <latchkey/detail/in_quotes.hpp>
#include "core/text/duration.hpp"

namespace latchkey::inline v1::detail {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

std::optional<unsigned> hex_value(char digit) noexcept {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(&digit, &digit + 1, value, 16);
  if (error != std::errc() || end != &digit + 1) return std::nullopt;
  return value;
}

}  // namespace

std::string UriEndpoint::text() const {
  const bool bare_ipv6 = host.find(':') != std::string::npos;
  return (bare_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string host_list(std::span<const UriEndpoint> endpoints) {
  std::string all;
  for (const UriEndpoint& each : endpoints) all += (all.empty() ? "" : ",") + each.text();
  return all;
}

std::string UriSyntax::uri() const { return std::string(store_) + " URI"; }

UriParts UriSyntax::split(std::string_view text) const {
  UriParts parts;
  const std::string_view authority = text.substr(0, text.find_first_of("/?#"));
  text.remove_prefix(authority.size());
  const std::size_t at = authority.rfind('@');
  const bool logs_in = at != std::string_view::npos;
  // Messages from here on quote the text, so it must not contain a part of a password.
  if (text.find('@') != std::string_view::npos || (logs_in && authority.find('@') != at)) {
    refuse("invalid " + uri() +
           ": '@' must appear once, after user and password; inside them write '@' as %40, '/' as "
           "%2F, '?' as %3F and '#' as %23");
  }
  if (logs_in) {
    const std::string_view login = authority.substr(0, at);
    const std::size_t colon = login.find(':');
    parts.user = decoded(login.substr(0, colon), "user");
    if (colon != std::string_view::npos) {
      parts.password = decoded(login.substr(colon + 1), "password");
    }
  }
  parts.hosts = logs_in ? authority.substr(at + 1) : authority;
  const std::size_t question = text.find('?');
  parts.path = text.substr(0, question);
  parts.has_options = question != std::string_view::npos;
  if (parts.has_options) parts.options = text.substr(question + 1);
  if (parts.path.find('#') != std::string_view::npos ||
      parts.hosts.find(' ') != std::string_view::npos) {
    refuse("invalid " + uri() + ": write '#' as %23 and a space as %20");
  }
  return parts;
}

std::string UriSyntax::decoded(std::string_view text, std::string_view part) const {
  const auto invalid = [&] { return "invalid " + std::string(part) + " in the " + uri(); };
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      plain += text[at];
      continue;
    }
    const auto high = at + 2 < text.size() ? hex_value(text[at + 1]) : std::nullopt;
    const auto low = high ? hex_value(text[at + 2]) : std::nullopt;
    if (!low) {
      refuse(invalid() + ": '%' must be followed by two hexadecimal digits; write '%' as %25");
    }
    plain += static_cast<char>(*high * 16 + *low);
    at += 2;
  }
  // The system and client libraries would take a NUL for the end of the text.
  if (plain.find('\0') != std::string::npos) refuse(invalid() + ": it contains a NUL byte");
  return plain;
}

std::uint16_t UriSyntax::port(std::string_view text) const {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) {
    refuse("invalid port " + in_quotes(text) + " in the " + uri() + "; expected 1 to 65535");
  }
  return number;
}

UriEndpoint UriSyntax::endpoint(std::string_view text, std::uint16_t default_port) const {
  UriEndpoint endpoint{.host = {}, .port = default_port};
  std::optional<std::string_view> number;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) {
      refuse("invalid host in the " + uri() + ": missing ']' after the IPv6 address");
    }
    endpoint.host = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && !rest.starts_with(':')) {
      refuse("invalid host in the " + uri() + ": expected ':' and a port after ']', not " +
             in_quotes(rest));
    }
    if (!rest.empty()) number = rest.substr(1);
  } else {
    const std::size_t colon = text.find(':');
    endpoint.host = decoded(text.substr(0, colon), "host");
    if (colon != std::string_view::npos) number = text.substr(colon + 1);
    if (number && number->find(':') != std::string_view::npos) {
      refuse("invalid host in the " + uri() +
             ": more than one ':'; enclose an IPv6 address in brackets, as in [::1]");
    }
  }
  if (endpoint.host.empty()) {
    refuse("missing host in the " + uri() + "; example: " + std::string(example_));
  }
  if (number) endpoint.port = port(*number);
  return endpoint;
}

std::vector<UriEndpoint> UriSyntax::endpoints(std::string_view text,
                                              std::uint16_t default_port) const {
  std::vector<UriEndpoint> all;
  for (;;) {
    const std::size_t comma = text.find(',');
    all.push_back(endpoint(text.substr(0, comma), default_port));
    if (comma == std::string_view::npos) return all;
    text.remove_prefix(comma + 1);
  }
}

std::vector<UriOption> UriSyntax::options(std::string_view text) const {
  std::vector<UriOption> all;
  for (;;) {
    const std::size_t end = text.find('&');
    const std::string_view one = text.substr(0, end);
    const std::size_t sign = one.find('=');
    UriOption option{.name = one.substr(0, sign), .value = {}};
    if (sign != std::string_view::npos) option.value = one.substr(sign + 1);
    if (option.value.empty()) {
      refuse("missing value of the option " + in_quotes(option.name) + " in the " + uri());
    }
    all.push_back(option);
    if (end == std::string_view::npos) return all;
    text.remove_prefix(end + 1);
  }
}

std::chrono::milliseconds UriSyntax::duration(const UriOption& option,
                                              std::chrono::milliseconds least,
                                              std::chrono::milliseconds most,
                                              std::string_view expected) const {
  const Duration parsed = parse_duration(option.value);
  const auto* const length = std::get_if<std::chrono::milliseconds>(&parsed);
  if (length == nullptr || *length < least || *length > most) {
    refuse_value(option.name, option.value, expected);
  }
  return *length;
}

void UriSyntax::refuse_option(std::string_view name, std::string_view known) const {
  refuse("unknown option " + in_quotes(name) + " in the " + uri() + "; expected one of " +
         std::string(known));
}

void UriSyntax::refuse_old_name(std::string_view name, std::string_view new_name) const {
  refuse("the option " + in_quotes(name) + " of the " + uri() + " is now called " +
         in_quotes(new_name));
}

void UriSyntax::refuse_without(std::string_view name, std::string_view needs) const {
  refuse("the option " + in_quotes(name) + " of the " + uri() + " needs " + std::string(needs));
}

void UriSyntax::refuse_value(std::string_view option, std::string_view value,
                             std::string_view expected) const {
  refuse("invalid value " + in_quotes(value) + " of the option " + in_quotes(option) + " in the " +
         uri() + "; expected " + std::string(expected));
}

}  // namespace latchkey::inline v1::detail
