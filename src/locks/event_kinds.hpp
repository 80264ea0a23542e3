// The properties of each kind of event.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <latchkey/listener.hpp>

namespace latchkey::inline v1::detail {

/// Groups of kinds that a listener treats alike.
enum class EventCategory : std::uint8_t {
  progress,    ///< an acquire goes on
  outcome,     ///< an acquire ended
  hold,        ///< a hold was renewed or ended
  report,      ///< an error or a warning that nobody could be given by an exception
  leader,      ///< a Leader was elected or deposed
  once,        ///< a run of a OncePer ended, or did not begin
  latch,       ///< a count changed, or a wait for one ended
  connection,  ///< a connection changed
  dropped,     ///< events were dropped
};

enum class Severity : std::uint8_t { trace, debug, info, warning, error };

struct EventTraits {
  Event::Kind kind;
  std::string_view name;
  EventCategory category;
  Severity severity;
  /// Routine events are made only for a listener that wants everything, and are dropped if the
  /// listener is too slow. All others are losses, reports, errors and connections.
  bool is_routine;
};

/// One row for each kind, in the order of Event::Kind, of which `dropped` is the last. The names,
/// the notifier's queue, the log and the metrics follow this table.
inline constexpr std::array event_kinds = [] {
  using Kind = Event::Kind;
  using enum EventCategory;
  constexpr bool routine = true, kept = false;
  return std::array{
      EventTraits{Kind::attempt, "attempt", progress, Severity::trace, routine},
      EventTraits{Kind::waiting, "waiting", progress, Severity::debug, routine},
      EventTraits{Kind::granted, "granted", outcome, Severity::debug, routine},
      EventTraits{Kind::timeout, "timeout", outcome, Severity::warning, routine},
      EventTraits{Kind::busy, "busy", outcome, Severity::debug, routine},
      EventTraits{Kind::taken, "taken", outcome, Severity::debug, routine},
      EventTraits{Kind::unavailable, "unavailable", outcome, Severity::error, kept},
      EventTraits{Kind::refused, "refused", outcome, Severity::error, kept},
      EventTraits{Kind::cancelled, "cancelled", outcome, Severity::debug, routine},
      EventTraits{Kind::closed, "closed", outcome, Severity::debug, routine},
      EventTraits{Kind::would_deadlock, "would_deadlock", outcome, Severity::warning, routine},
      EventTraits{Kind::renewed, "renewed", hold, Severity::trace, routine},
      EventTraits{Kind::lost, "lost", hold, Severity::error, kept},
      EventTraits{Kind::released, "released", hold, Severity::debug, routine},
      EventTraits{Kind::release_unconfirmed, "release_unconfirmed", hold, Severity::error, kept},
      EventTraits{Kind::abandoned, "abandoned", report, Severity::error, kept},
      EventTraits{Kind::unlock_error, "unlock_error", report, Severity::error, kept},
      EventTraits{Kind::hidden_error, "hidden_error", report, Severity::error, kept},
      EventTraits{Kind::warning, "warning", report, Severity::warning, kept},
      EventTraits{Kind::order, "order", report, Severity::warning, kept},
      EventTraits{Kind::elected, "elected", leader, Severity::info, kept},
      EventTraits{Kind::deposed, "deposed", leader, Severity::error, kept},
      EventTraits{Kind::term_ended, "term_ended", leader, Severity::info, kept},
      EventTraits{Kind::once_ran, "once_ran", once, Severity::info, routine},
      EventTraits{Kind::once_taken, "once_taken", once, Severity::debug, routine},
      EventTraits{Kind::once_late, "once_late", once, Severity::info, routine},
      EventTraits{Kind::once_failed, "once_failed", once, Severity::error, kept},
      EventTraits{Kind::latch_counted, "latch_counted", latch, Severity::debug, routine},
      EventTraits{Kind::latch_opened, "latch_opened", latch, Severity::debug, routine},
      EventTraits{Kind::latch_timeout, "latch_timeout", latch, Severity::warning, routine},
      EventTraits{Kind::latch_failed, "latch_failed", latch, Severity::error, kept},
      EventTraits{Kind::connected, "connected", connection, Severity::info, routine},
      EventTraits{Kind::connection_lost, "connection_lost", connection, Severity::error, kept},
      EventTraits{Kind::connection_restored, "connection_restored", connection, Severity::warning,
                  kept},
      EventTraits{Kind::revoked, "revoked", hold, Severity::info, kept},
      EventTraits{Kind::recalled, "recalled", hold, Severity::debug, routine},
      EventTraits{Kind::dropped, "dropped", EventCategory::dropped, Severity::warning, routine},
  };
}();

static_assert(
    [] {
      for (std::size_t index = 0; index < event_kinds.size(); ++index) {
        if (event_kinds[index].kind != static_cast<Event::Kind>(index)) return false;
      }
      return event_kinds.back().kind == Event::Kind::dropped;
    }(),
    "event_kinds has one row for each kind, in the order of Event::Kind");

/// The template of the locks of a OncePer. An acquire with it that finds the lock busy ends as
/// `taken` and not as `timeout`: all processes but one do so at each instant.
inline constexpr std::string_view once_template = "latchkey_once:{key}:{instant}";

/// How an acquire ends that gave up because the lock was busy. `one_attempt`: it did not wait.
constexpr Event::Kind kind_of_busy(std::string_view key_template, bool one_attempt) noexcept {
  if (key_template == once_template) return Event::Kind::taken;
  return one_attempt ? Event::Kind::busy : Event::Kind::timeout;
}

/// `kind` is an enumerator.
constexpr const EventTraits& traits_of(Event::Kind kind) noexcept {
  return event_kinds[static_cast<std::size_t>(kind)];
}

constexpr bool is_routine(Event::Kind kind) noexcept { return traits_of(kind).is_routine; }

}  // namespace latchkey::inline v1::detail
