// The text of a log line.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/adapters/spdlog.hpp>

#include <spdlog/fmt/fmt.h>
#include <spdlog/logger.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/text/printable.hpp"
#include "locks/event_kinds.hpp"

namespace latchkey::inline v1 {
namespace {

using Kind = Event::Kind;

spdlog::level::level_enum level_of(Kind kind) noexcept {
  switch (detail::traits_of(kind).severity) {
    case detail::Severity::error: return spdlog::level::err;
    case detail::Severity::warning: return spdlog::level::warn;
    case detail::Severity::info: return spdlog::level::info;
    case detail::Severity::debug: return spdlog::level::debug;
    case detail::Severity::trace: break;
  }
  return spdlog::level::trace;
}

std::string milliseconds(std::chrono::nanoseconds time) {
  return fmt::format("{:.3f} ms", std::chrono::duration<double, std::milli>(time).count());
}

/// The times of the event, if it has any.
std::string times(const Event& event) {
  switch (event.kind) {
    case Kind::granted:
    case Kind::timeout:
    case Kind::busy:
    case Kind::taken:
    case Kind::unavailable:
    case Kind::refused:
    case Kind::cancelled:
    case Kind::closed: return ", waited " + milliseconds(event.waited);
    case Kind::renewed:
      return fmt::format(", lease {} ms, {} late", event.lease.count(), milliseconds(event.late));
    case Kind::revoked:
    case Kind::lost:
    case Kind::release_unconfirmed:
    case Kind::abandoned: return ", held " + milliseconds(event.held);
    case Kind::released:
      return ", held " + milliseconds(event.held) + ", left " + milliseconds(event.left);
    default: return {};
  }
}

std::string line(const Event& event) {
  std::string text(to_string(event.kind));
  if (event.kind == Kind::dropped)
    return text + fmt::format(" {} events: {}", event.count, event.text);
  if (!event.server.empty()) text += ' ' + event.server;
  if (event.server != event.backend) text += " of " + event.backend;
  if (!event.key.empty()) text += fmt::format(" {} '{}'", to_string(event.type), event.key);
  if (event.origin.site != nullptr) text += fmt::format(" in {}", event.method());
  if (event.owner != 0) text += fmt::format(" by owner {}", event.owner);
  text += times(event);
  if (event.fencing_token) text += fmt::format(", token {}", *event.fencing_token);
  if (!event.holder.empty()) text += ", held by " + event.holder;
  if (!event.text.empty()) text += ": " + event.text;
  return text;
}

}  // namespace

SpdlogListener::SpdlogListener(std::shared_ptr<spdlog::logger> logger)
    : logger_(std::move(logger)) {
  if (logger_ == nullptr) throw std::invalid_argument("a SpdlogListener needs a logger");
}

SpdlogListener::~SpdlogListener() = default;

void SpdlogListener::on_event(const Event& event) {
  const auto level = level_of(event.kind);
  if (logger_->should_log(level)) logger_->log(level, detail::printable(line(event)));
}

bool SpdlogListener::wants_everything() const noexcept {
  return logger_->should_log(spdlog::level::warn);
}

}  // namespace latchkey::inline v1
