// The name of the Lease of a key.
// SPDX-License-Identifier: BSL-1.0
#include "stores/kubernetes/lease_name.hpp"

#include <charconv>

namespace latchkey::inline v1::detail::kubernetes {
namespace {

/// Begins with a letter, so that an escaped byte may stand at the beginning of a label.
constexpr std::string_view escape = "x--";
constexpr std::size_t digits = 2;

bool is_alphanumeric(char byte) noexcept {
  return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
}

/// Whether the byte `at` a place of the key may stand in the name as it is. A label, between two
/// dots, is not empty and has no dash at its ends.
bool stands(std::string_view key, std::size_t at) noexcept {
  const char byte = key[at];
  if (byte == 'x') return !key.substr(at).starts_with(escape);
  if (is_alphanumeric(byte)) return true;
  const bool has_neighbours = at > 0 && at + 1 < key.size();
  if (byte == '.') return has_neighbours && key[at - 1] != '.' && key[at + 1] != '.';
  return byte == '-' && has_neighbours && key[at - 1] != '.' && key[at + 1] != '.';
}

}  // namespace

bool is_label(std::string_view text) noexcept {
  constexpr std::size_t longest_label = 63;
  if (text.empty() || text.size() > longest_label) return false;
  for (const char byte : text) {
    if (!is_alphanumeric(byte) && byte != '-') return false;
  }
  return text.front() != '-' && text.back() != '-';
}

std::string lease_name_of(std::string_view key) {
  constexpr std::string_view hexadecimal = "0123456789abcdef";
  std::string name;
  for (std::size_t at = 0; at < key.size(); ++at) {
    if (stands(key, at)) {
      name += key[at];
      continue;
    }
    const auto byte = static_cast<unsigned char>(key[at]);
    name.append(escape).append(1, hexadecimal[byte >> 4U]).append(1, hexadecimal[byte & 15U]);
  }
  return name;
}

std::optional<std::string> key_of(std::string_view lease_name) {
  std::string key;
  for (std::size_t at = 0; at < lease_name.size(); ++at) {
    if (!lease_name.substr(at).starts_with(escape)) {
      key += lease_name[at];
      continue;
    }
    const std::string_view number = lease_name.substr(at + escape.size(), digits);
    unsigned value = 0;
    const auto [stop, error] =
        std::from_chars(number.data(), number.data() + number.size(), value, 16);
    const bool is_whole = error == std::errc() && stop == number.data() + digits;
    if (!is_whole) return std::nullopt;
    key += static_cast<char>(value);
    at += escape.size() + digits - 1;
  }
  // One key has one name: a byte that needs no escape must not have one.
  if (lease_name_of(key) != lease_name) return std::nullopt;
  return key;
}

}  // namespace latchkey::inline v1::detail::kubernetes
