// Keys as paths of ZooKeeper.
// SPDX-License-Identifier: BSL-1.0
#include "stores/zookeeper/key_path.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "stores/zookeeper/node_name.hpp"

namespace latchkey::inline v1::detail::zookeeper {
namespace {

void encode(std::string& path, char byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto value = static_cast<unsigned char>(byte);
  path += '%';
  path += digits[value >> 4];
  path += digits[value & 15];
}

/// How many bytes at the start of `text` are one character that a path may contain; 0: none.
std::size_t plain_character(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return lead < 0x20 || lead == 0x7F || lead == '%' ? 0 : 1;
  // Three bytes reach U+FFFF. ZooKeeper's servers count in UTF-16 and reject surrogates.
  const std::size_t size = lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : 0;
  if (size == 0 || text.size() < size) return 0;
  std::uint32_t character = lead & (size == 2 ? 0x1FU : 0x0FU);
  for (std::size_t at = 1; at < size; ++at) {
    const auto next = static_cast<unsigned char>(text[at]);
    if ((next & 0xC0U) != 0x80U) return 0;
    character = (character << 6) | (next & 0x3FU);
  }
  const bool overlong = size == 3 && character < 0x800;
  const bool rejected = (character >= 0x80 && character <= 0x9F) ||
                        (character >= 0xD800 && character <= 0xF8FF) || character >= 0xFFF0;
  return overlong || rejected ? 0 : size;
}

/// Names whose first character is encoded, because they are not those of a lock.
bool is_reserved(std::string_view name, bool is_first) noexcept {
  return name == "." || name == ".." || name.starts_with("_c_") || name.starts_with("_w_") ||
         (is_first && name == "zookeeper");
}

std::optional<unsigned> hex_value(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A' + 10);
  return std::nullopt;
}

}  // namespace

std::string path_of_key(std::string_view key) {
  std::string path;
  bool starts_name = true;
  std::size_t entry_end = 0;  // the end of a name that would be a queue entry of the lock above it
  for (std::size_t at = 0; at < key.size();) {
    if (starts_name && key[at] != '/') {
      starts_name = false;
      const std::string_view name = key.substr(at, key.find('/', at) - at);
      if (parse_node(name)) entry_end = at + name.size();
      if (is_reserved(name, at == 0)) {
        encode(path, key[at++]);
        continue;
      }
    }
    if (at + 1 == entry_end) {  // a number that does not end in a digit is none
      encode(path, key[at++]);
      continue;
    }
    if (key[at] == '/') {
      // Not at the start, at the end, or behind another one.
      const bool separates = !starts_name && at + 1 < key.size() && key[at + 1] != '/';
      separates ? void(path += '/') : encode(path, '/');
      starts_name = separates;
      ++at;
      continue;
    }
    const std::size_t size = plain_character(key.substr(at));
    size == 0 ? encode(path, key[at]) : void(path += key.substr(at, size));
    at += size == 0 ? 1 : size;
  }
  return path;
}

std::string key_of_path(std::string_view path) {
  std::string key;
  for (std::size_t at = 0; at < path.size(); ++at) {
    const bool encoded = path[at] == '%' && at + 2 < path.size();
    const auto high = encoded ? hex_value(path[at + 1]) : std::nullopt;
    const auto low = high ? hex_value(path[at + 2]) : std::nullopt;
    key += low ? static_cast<char>(*high * 16 + *low) : path[at];
    if (low) at += 2;
  }
  return key;
}

}  // namespace latchkey::inline v1::detail::zookeeper
