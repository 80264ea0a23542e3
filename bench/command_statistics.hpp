// The statistics of a Redis server about its commands.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "support/servers/redis_client.hpp"

namespace latchkey::bench {

/// The server's work for the commands of one name since CONFIG RESETSTAT. The time of a script
/// includes that of its commands.
struct CommandStatistics {
  double calls = 0;
  double microseconds = 0;
};

inline CommandStatistics statistics(tests::RedisClient& client, std::string_view command) {
  const std::string text = client({"INFO", "commandstats"}).text();
  const std::size_t line = text.find("cmdstat_" + std::string(command) + ":");
  CommandStatistics found;
  if (line == std::string::npos) return found;
  const auto number = [&](std::string_view name, double& value) {
    const std::size_t at = text.find(name, line) + name.size();
    std::from_chars(text.data() + at, text.data() + text.size(), value);
  };
  number("calls=", found.calls);
  number("usec=", found.microseconds);
  return found;
}

}  // namespace latchkey::bench
