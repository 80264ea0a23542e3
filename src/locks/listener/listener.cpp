// The names of events.
#include <latchkey/listener.hpp>

#include <latchkey/site.hpp>

namespace latchkey {

std::string_view to_string(Event::Kind kind) noexcept {
  switch (kind) {
    case Event::Kind::attempt: return "attempt";
    case Event::Kind::waiting: return "waiting";
    case Event::Kind::granted: return "granted";
    case Event::Kind::timeout: return "timeout";
    case Event::Kind::unavailable: return "unavailable";
    case Event::Kind::refused: return "refused";
    case Event::Kind::cancelled: return "cancelled";
    case Event::Kind::closed: return "closed";
    case Event::Kind::would_deadlock: return "would_deadlock";
    case Event::Kind::renewed: return "renewed";
    case Event::Kind::lost: return "lost";
    case Event::Kind::released: return "released";
    case Event::Kind::release_unconfirmed: return "release_unconfirmed";
    case Event::Kind::abandoned: return "abandoned";
    case Event::Kind::unlock_error: return "unlock_error";
    case Event::Kind::hidden_error: return "hidden_error";
    case Event::Kind::warning: return "warning";
    case Event::Kind::order: return "order";
    case Event::Kind::connected: return "connected";
    case Event::Kind::connection_lost: return "connection_lost";
    case Event::Kind::connection_restored: return "connection_restored";
    case Event::Kind::dropped: return "dropped";
  }
  return "?";
}

std::string_view Event::method() const {
  return origin.site != nullptr ? origin.site->name() : std::string_view();
}

}  // namespace latchkey
