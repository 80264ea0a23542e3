// The paths of keys, and the names of the nodes below them, as Curator writes them.
// SPDX-License-Identifier: BSL-1.0
#include "stores/zookeeper/node_name.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>

#include "core/uuid_text.hpp"

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

constexpr std::string_view protection = "_c_", subscriber = "_w_";
constexpr std::string_view plain = "lock-", reader = "__READ__", writer = "__WRIT__";

std::string uuid_text(const TicketOwner& uuid) {
  std::array<char, uuid_text_size> text{};
  write_uuid(text.data(), uuid);
  return {text.data(), text.size()};
}

std::string_view marker_of(LockType type) noexcept {
  switch (type) {
    case LockType::READ: return reader;
    case LockType::WRITE: return writer;
    default: return plain;
  }
}

/// RFC 9562: the four bits of the version. Curator's are random: 4.
unsigned version_of(const TicketOwner& uuid) noexcept {
  return static_cast<unsigned>(uuid[0] >> 12) & 15U;
}

/// Ten digits, with a '-' before them after 2^31 nodes.
std::optional<std::uint32_t> read_sequence(std::string_view text) noexcept {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && text.size() >= 10;
  return whole ? std::optional(static_cast<std::uint32_t>(number)) : std::nullopt;
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

TicketOwner owner_of(const HoldId& id) noexcept {
  constexpr std::uint64_t variant = std::uint64_t{3} << 62;
  return {id.space[0], id.space[1] ^ (id.number & ~variant)};
}

std::string node_prefix(const HoldId& id, LockType type) {
  return std::string(protection) + uuid_text(owner_of(id)) + '-' + std::string(marker_of(type));
}

std::string reader_at(const HoldId& id, std::string_view writer_name) {
  const std::size_t at = writer_name.rfind(writer);
  return node_prefix(id, LockType::READ) +
         std::string(at == std::string_view::npos ? std::string_view()
                                                  : writer_name.substr(at + writer.size()));
}

// Protection is the default of Curator's locks, and not of all other clients.
std::optional<Ticket> parse_node(std::string_view name) {
  Ticket ticket;
  ticket.name = name;
  ticket.foreign = true;
  if (name.starts_with(protection) && name.size() > protection.size() + uuid_text_size) {
    const auto uuid = read_uuid(name.substr(protection.size(), uuid_text_size));
    if (uuid) {
      ticket.owner = *uuid;
      ticket.foreign = version_of(*uuid) != 8;
    }
  }
  constexpr std::array markers{plain, reader, writer};
  for (const std::string_view marker : markers) {
    const std::size_t at = name.rfind(marker);
    if (at == std::string_view::npos) continue;
    const auto order = read_sequence(name.substr(at + marker.size()));
    if (!order) continue;
    ticket.order = *order;
    if (marker == reader) ticket.kind = Ticket::Kind::read;
    if (marker == writer) ticket.kind = Ticket::Kind::write;
    return ticket;
  }
  return std::nullopt;
}

std::string subscriber_name(const TicketOwner& process) {
  return std::string(subscriber) + uuid_text(process);
}

bool is_subscriber(std::string_view name) noexcept { return name.starts_with(subscriber); }

std::string node_data(const HoldId& id, std::string_view note) {
  std::string data = id.text();
  if (!note.empty()) (data += ' ') += note;
  return data;
}

}  // namespace latchkey::inline v1::detail::zookeeper
