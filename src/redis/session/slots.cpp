// Hash slots of a cluster: which key has which, and which node serves it.
// SPDX-License-Identifier: BSL-1.0
#include "redis/session/slots.hpp"

#include <array>
#include <span>
#include <utility>

#include "core/text/number.hpp"
#include "redis/protocol/reply.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

constexpr std::array<std::uint16_t, 256> crc16_table = [] {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    unsigned remainder = byte << 8;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder & 0x8000U) != 0 ? remainder << 1 ^ 0x1021U : remainder << 1;
    }
    table[byte] = static_cast<std::uint16_t>(remainder);
  }
  return table;
}();

/// {host, port, ...}. An empty host is that of the node that replied; "?" is unknown.
std::optional<RedisUri::Endpoint> read_node(const redisReply& reply,
                                            const RedisUri::Endpoint& from) {
  const auto words = elements_of(reply);
  if (words.size() < 2 || words[1]->type != REDIS_REPLY_INTEGER) return std::nullopt;
  const std::string_view host = text_of(*words[0]);
  const long long port = words[1]->integer;
  if (host == "?" || port < 1 || port > 65'535) return std::nullopt;
  return RedisUri::Endpoint{host.empty() ? from.host : std::string(host),
                            static_cast<std::uint16_t>(port)};
}

bool is_slot(const redisReply& reply) noexcept {
  return reply.type == REDIS_REPLY_INTEGER && reply.integer >= 0 &&
         reply.integer < static_cast<long long>(slot_count);
}

/// "3999 127.0.0.1:6381". The host may be empty. An IPv6 address contains colons itself.
bool read_target(std::string_view text, const RedisUri::Endpoint& from, Redirect& redirect) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return false;
  const std::string_view endpoint = text.substr(space + 1, text.find(' ', space + 1) - space - 1);
  const std::size_t colon = endpoint.rfind(':');
  if (colon == std::string_view::npos || !read_number(text.substr(0, space), redirect.slot) ||
      redirect.slot >= slot_count ||
      !read_number(endpoint.substr(colon + 1), redirect.endpoint.port) ||
      redirect.endpoint.port == 0) {
    return false;
  }
  redirect.endpoint.host = colon == 0 ? from.host : std::string(endpoint.substr(0, colon));
  return true;
}

}  // namespace

std::uint16_t slot_of(std::string_view key) noexcept {
  if (const std::size_t open = key.find('{'); open != std::string_view::npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1) {
      key = key.substr(open + 1, close - open - 1);
    }
  }
  unsigned crc = 0;
  for (const char each : key) {
    const auto byte = static_cast<unsigned char>(each);
    crc = (crc << 8 ^ crc16_table[(crc >> 8 ^ byte) & 0xFFU]) & 0xFFFFU;
  }
  return static_cast<std::uint16_t>(crc % slot_count);
}

std::optional<SlotMap> read_slots(const redisReply& reply, const RedisUri::Endpoint& from) {
  if (reply.type != REDIS_REPLY_ARRAY) return std::nullopt;
  SlotMap map;
  for (const redisReply* const entry : elements_of(reply)) {
    const auto words = elements_of(*entry);
    if (words.size() < 3 || !is_slot(*words[0]) || !is_slot(*words[1])) return std::nullopt;
    auto master = read_node(*words[2], from);
    if (!master) continue;
    map.ranges.push_back({static_cast<std::uint16_t>(words[0]->integer),
                          static_cast<std::uint16_t>(words[1]->integer), *std::move(master)});
    for (const redisReply* const node : words.subspan(3)) {
      if (auto replica = read_node(*node, from)) map.replicas.push_back(*std::move(replica));
    }
  }
  return map;
}

Redirect read_redirect(std::string_view error, const RedisUri::Endpoint& from) {
  Redirect redirect;
  const auto consume = [&](std::string_view word) {
    if (!error.starts_with(word)) return false;
    error.remove_prefix(word.size());
    return true;
  };
  if (consume("MOVED ")) {
    if (read_target(error, from, redirect)) redirect.kind = Redirect::Kind::moved;
  } else if (consume("ASK ")) {
    if (read_target(error, from, redirect)) redirect.kind = Redirect::Kind::ask;
  } else if (error.starts_with("TRYAGAIN") || error.starts_with("CLUSTERDOWN") ||
             error.find("access a non local key") != std::string_view::npos) {
    redirect.kind = Redirect::Kind::later;
  }
  return redirect;
}

}  // namespace latchkey::inline v1::detail::redis
