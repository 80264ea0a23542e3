// The parts that all schemas share.
// SPDX-License-Identifier: BSL-1.0
#include "stores/postgresql/layout.hpp"

#include <algorithm>

#include "stores/postgresql/native_layout.hpp"
#include "stores/postgresql/shedlock_layout.hpp"
#include "stores/sql/reply.hpp"

namespace latchkey::inline v1::detail::postgresql {
namespace {

constexpr std::chrono::milliseconds longest_time = std::chrono::hours(24 * 365 * 100);

}  // namespace

std::size_t Call::size() const noexcept {
  // Bind, Describe and Execute with their lengths and names.
  std::size_t bytes = 64;
  for (const auto& parameter : parameters) bytes += 6 + (parameter ? parameter->size() : 0);
  return bytes;
}

std::unique_ptr<Layout> Layout::make(const PostgresqlUri& uri) {
  if (uri.schema == LockSchema::shedlock) {
    return std::make_unique<ShedlockLayout>(uri.table);
  }
  return std::make_unique<NativeLayout>();
}

std::string error_text(const PGresult* result) {
  const std::string_view state = sql_state(result);
  const char* const message = ::PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  std::string text = message == nullptr ? "the server reports an error" : message;
  if (state == "42501") text += "; grant the role what docs/stores/postgresql.md lists";
  if (!state.empty()) text += " (SQLSTATE " + std::string(state) + ')';
  return text;
}

// 25006: the server does not accept writes now.
bool is_transient(std::string_view sql_state) noexcept {
  const std::string_view group = sql_state.substr(0, 2);
  if (sql_state == "25006") return true;
  return group == "40" || group == "53" || group == "55" || group == "57" || group == "58";
}

std::string array_literal(std::span<const std::string_view> texts) {
  std::string literal = "{";
  for (const std::string_view text : texts) {
    if (literal.size() > 1) literal += ',';
    literal += '"';
    for (const char one : text) {
      if (one == '"' || one == '\\') literal += '\\';
      literal += one;
    }
    literal += '"';
  }
  return literal += '}';
}

Outcome boolean_outcome(std::string_view cell) {
  if (cell != "t" && cell != "f") return sql::malformed_outcome();
  Outcome outcome;
  outcome.kind = cell == "t" ? Outcome::Kind::granted : Outcome::Kind::gone;
  return outcome;
}

bool is_copy(const PGresult* result) noexcept {
  const ExecStatusType status = ::PQresultStatus(result);
  return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

std::string milliseconds_text(std::chrono::milliseconds time) {
  return std::to_string(std::min(time, longest_time).count());
}

std::chrono::milliseconds time_of(std::int64_t milliseconds) noexcept {
  return std::clamp(std::chrono::milliseconds(milliseconds), -longest_time, longest_time);
}

bool is_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  for (std::size_t at = 0; at < text.size();) {
    const unsigned char first = byte(at);
    if (first == 0) return false;
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xC2 ? 0
                               : first < 0xE0 ? 2
                               : first < 0xF0 ? 3
                               : first < 0xF5 ? 4
                                              : 0;
    if (length == 0 || at + length > text.size()) return false;
    for (std::size_t more = 1; more < length; ++more) {
      if (byte(at + more) >> 6U != 2) return false;
    }
    if ((first == 0xE0 && byte(at + 1) < 0xA0) || (first == 0xED && byte(at + 1) > 0x9F) ||
        (first == 0xF0 && byte(at + 1) < 0x90) || (first == 0xF4 && byte(at + 1) > 0x8F)) {
      return false;
    }
    at += length;
  }
  return true;
}

std::optional<std::string> note_of(const Request& request) {
  if (request.note.empty() || !is_utf8(request.note)) return std::nullopt;
  return std::string(request.note);
}

}  // namespace latchkey::inline v1::detail::postgresql
