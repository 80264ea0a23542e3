// Listeners, and the names of events.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/listener.hpp>

#include <cstddef>

#include <latchkey/site.hpp>

#include "locks/event_kinds.hpp"
#include "locks/space/live_spaces.hpp"

namespace latchkey::inline v1 {

std::string_view to_string(Event::Kind kind) noexcept {
  const auto number = static_cast<std::size_t>(kind);
  return number < detail::event_kinds.size() ? detail::event_kinds[number].name : "?";
}

Listener::~Listener() { detail::LiveSpaces::stop_calling(*this); }

void Listener::on_event(const Event& /*event*/) {}

std::string_view Event::method() const {
  return origin.site != nullptr ? origin.site->name() : std::string_view();
}

}  // namespace latchkey::inline v1
