// A listener for commands whose stderr belongs to something else.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/listener.hpp>

namespace latchkey::inline v1::cli {

/// Drops all events: without a listener, warnings go to stderr.
class SilentListener final : public Listener {
 public:
  void on_event(const Event& /*event*/) override {}
  [[nodiscard]] bool wants_everything() const noexcept override { return false; }
};

/// For Options::listener. It outlives all Locks.
inline Listener* silent_listener() noexcept {
  static SilentListener one;
  return &one;
}

}  // namespace latchkey::inline v1::cli
