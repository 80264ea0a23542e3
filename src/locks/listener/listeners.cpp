// Forwarding events to several listeners.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/listeners.hpp>

#include <algorithm>

namespace latchkey::inline v1 {

Listeners::Listeners(std::initializer_list<SharedOrBorrowed<Listener>> listeners)
    : listeners_(listeners) {
  std::erase_if(listeners_, [](const Listener* each) { return each == nullptr; });
}

void Listeners::on_event(const Event& event) {
  for (const SharedOrBorrowed<Listener>& each : listeners_) {
    try {
      each->on_event(event);
    } catch (...) {
      // A listener that throws misses its own event; the others are called all the same.
    }
  }
}

bool Listeners::wants_everything() const noexcept {
  return std::any_of(listeners_.begin(), listeners_.end(),
                     [](const Listener* each) { return each->wants_everything(); });
}

}  // namespace latchkey::inline v1
