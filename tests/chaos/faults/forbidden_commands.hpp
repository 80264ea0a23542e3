// The commands that the campaign forbids by ACL, one at a time.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace latchkey::chaos {

/// Every command of every script of lua/ (a test compares), and those that run scripts and
/// subscribe.
inline constexpr auto forbidden_commands = std::to_array<std::string_view>({
    "DBSIZE",    "DECR",       "DECRBY",        "DEL",     "EXISTS", "GET",      "HDEL",
    "HEXISTS",   "HGET",       "HGETALL",       "HLEN",    "HSCAN",  "HSET",     "INCRBY",
    "LINDEX",    "TYPE",       "LPOP",          "LPOS",    "LRANGE", "LREM",     "PERSIST",
    "PEXPIRE",   "PEXPIREAT",  "PTTL",          "PUBLISH", "PUBSUB", "RENAMENX", "RPUSH",
    "SCAN",      "SET",        "SPUBLISH",      "STRLEN",  "TIME",   "ZADD",     "ZCARD",
    "ZCOUNT",    "ZRANGE",     "ZRANGEBYSCORE", "ZREM",    "ZSCORE", "EVALSHA",  "EVAL",
    "SUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE",
});

constexpr std::string_view forbidden_name(int strength) noexcept {
  return forbidden_commands[static_cast<std::size_t>(strength) % forbidden_commands.size()];
}

/// Redis before 7.0 has no such command.
constexpr bool is_sharded(std::string_view command) noexcept {
  return command == "SPUBLISH" || command == "SSUBSCRIBE";
}

}  // namespace latchkey::chaos
