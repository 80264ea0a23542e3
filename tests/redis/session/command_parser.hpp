// Parses a client's commands and composes a server's replies, without code of the library.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v1::testing {

using Command = std::vector<std::string>;

/// Collects bytes and returns complete commands. Malformed bytes set `malformed`.
class CommandParser {
 public:
  void feed(std::string_view bytes) { bytes_ += bytes; }

  [[nodiscard]] bool malformed() const noexcept { return malformed_; }

  std::optional<Command> next() {
    std::size_t at = 0;
    const auto words = number(at, '*');
    if (!words) return std::nullopt;
    Command command;
    for (std::size_t index = 0; index < *words; ++index) {
      const auto size = number(at, '$');
      if (!size || bytes_.size() < at + *size + 2) return std::nullopt;
      command.emplace_back(bytes_, at, *size);
      at += *size + 2;
      if (bytes_.compare(at - 2, 2, "\r\n") != 0) malformed_ = true;
    }
    bytes_.erase(0, at);
    return command;
  }

  std::vector<Command> all() {
    std::vector<Command> commands;
    while (auto command = next()) commands.push_back(std::move(*command));
    return commands;
  }

 private:
  /// Parses a header such as `*3\r\n` and moves `at` past it. Empty if it is incomplete or
  /// malformed.
  std::optional<std::size_t> number(std::size_t& at, char sign) {
    const std::size_t end = bytes_.find("\r\n", at);
    if (malformed_ || end == std::string::npos) return std::nullopt;
    std::size_t value = 0;
    const char* const first = bytes_.data() + at + 1;
    const char* const last = bytes_.data() + end;
    malformed_ = bytes_[at] != sign || std::from_chars(first, last, value).ptr != last;
    at = end + 2;
    if (malformed_) return std::nullopt;
    return value;
  }

  std::string bytes_;
  bool malformed_ = false;
};

/// `text` as a bulk string.
inline std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

/// The replies to HELLO 3 and INFO. `memory` is appended to the INFO.
inline std::string hello_answer(int client_number, std::string_view run,
                                std::string_view role = "master", std::string_view memory = {},
                                std::string_view mode = "standalone",
                                std::string_view version = "7.0.15") {
  const std::string info = "# Server\r\nredis_version:" + std::string(version) +
                           "\r\nrun_id:" + std::string(run) +
                           "\r\n\r\n# Memory\r\nused_memory:12\r\n" + std::string(memory);
  return "%7\r\n" + bulk("server") + bulk("redis") + bulk("version") + bulk(version) +
         bulk("proto") + ":3\r\n" + bulk("id") + ":" + std::to_string(client_number) + "\r\n" +
         bulk("mode") + bulk(mode) + bulk("role") + bulk(role) + bulk("modules") + "*0\r\n" + "=" +
         std::to_string(info.size() + 4) + "\r\ntxt:" + info + "\r\n";
}

/// A push of two strings and a count.
inline std::string push(std::string_view kind, std::string_view channel, int count) {
  return ">3\r\n" + bulk(kind) + bulk(channel) + ":" + std::to_string(count) + "\r\n";
}
inline std::string message(std::string_view channel, std::string_view text) {
  return ">3\r\n" + bulk("message") + bulk(channel) + bulk(text);
}

}  // namespace latchkey::inline v1::testing
