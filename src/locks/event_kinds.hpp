// Which events are kept for a listener whatever happens.
#pragma once

#include <latchkey/listener.hpp>

namespace latchkey::detail {

/// An event that is only made for a listener that wants everything, and that is dropped when the
/// listener is too slow. All others are losses, reports, errors and connections.
constexpr bool is_routine(Event::Kind kind) noexcept {
  using Kind = Event::Kind;
  switch (kind) {
    case Kind::attempt:
    case Kind::waiting:
    case Kind::granted:
    case Kind::timeout:
    case Kind::cancelled:
    case Kind::closed:
    case Kind::would_deadlock:
    case Kind::renewed:
    case Kind::released:
    case Kind::connected:
    case Kind::dropped: return true;
    case Kind::unavailable:
    case Kind::refused:
    case Kind::lost:
    case Kind::release_unconfirmed:
    case Kind::abandoned:
    case Kind::unlock_error:
    case Kind::hidden_error:
    case Kind::warning:
    case Kind::order:
    case Kind::connection_lost:
    case Kind::connection_restored: break;
  }
  return false;
}

}  // namespace latchkey::detail
