// The names of the nodes below a lock, as Curator writes them.
// SPDX-License-Identifier: BSL-1.0
#include "stores/zookeeper/node_name.hpp"

#include <array>
#include <charconv>
#include <system_error>

#include "core/uuid_text.hpp"

namespace latchkey::inline v1::detail::zookeeper {
namespace {

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
