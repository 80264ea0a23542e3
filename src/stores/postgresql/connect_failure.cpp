// Classifies libpq's messages.
// SPDX-License-Identifier: BSL-1.0
#include "stores/postgresql/connect_failure.hpp"

#include <array>
#include <string>

namespace latchkey::inline v1::detail::postgresql {
namespace {

struct Known {
  std::string_view state;
  bool permanent;
  std::string_view text;
};
constexpr std::array<Known, 8> known_states = {{
    {"28P01", true, "the server rejects the user or the password"},
    {"28000", true,
     "the server rejects the user, the database or this address; see its pg_hba.conf"},
    {"3D000", true, "the server has no such database"},
    {"42501", true, "the role may not connect to the database"},
    {"08P01", true, "the server or the pooler rejects the connection; see its log"},
    {"53300", false, "the server has no connection left (max_connections)"},
    {"57P03", false, "the server is starting, stopping or recovering"},
    {"57P01", false, "the server is shutting down"},
}};

/// Words of libpq's own messages about failures that only a change of a configuration cures.
constexpr std::array<std::string_view, 5> permanent_words = {"no password supplied",
                                                             "does not support SSL", "certificate",
                                                             "authentication method", "SSL error"};

std::string_view trimmed(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \n\t");
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

}  // namespace

ConnectionFailure connect_failure(std::string_view message) {
  message = trimmed(message);
  // Several addresses: the last one decides.
  if (const std::size_t line = message.rfind("connection to "); line != std::string_view::npos) {
    message.remove_prefix(line);
  }
  for (const std::string_view severity : {"FATAL:  ", "ERROR:  "}) {
    const std::size_t at = message.find(severity);
    if (at == std::string_view::npos) continue;
    const std::string_view state = message.substr(at + severity.size(), 5);
    for (const Known& each : known_states) {
      if (each.state == state) return {each.permanent, std::string(each.text)};
    }
    return {false, "the server rejects the connection (SQLSTATE " + std::string(state) + ')'};
  }
  constexpr std::string_view separator = "failed: ";
  const std::size_t at = message.find(separator);
  if (at != std::string_view::npos) message.remove_prefix(at + separator.size());
  message = trimmed(message.substr(0, message.find('\n')));
  ConnectionFailure failure{false, std::string(message)};
  if (failure.text.empty()) failure.text = "the connection failed";
  for (const std::string_view word : permanent_words) {
    if (message.find(word) != std::string_view::npos) failure.permanent = true;
  }
  failure.nothing_listens = message.find("Connection refused") != std::string_view::npos ||
                            message.find("No such file") != std::string_view::npos;
  return failure;
}

}  // namespace latchkey::inline v1::detail::postgresql
