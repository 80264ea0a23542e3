// A listener that counts events without a mutex, which a fork could inherit locked.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include <latchkey/listener.hpp>

#include "support/recorder.hpp"

namespace latchkey::tests {

class EventCounter final : public Listener {
 public:
  void on_event(const Event& event) override { ++counts_[static_cast<std::size_t>(event.kind)]; }

  [[nodiscard]] std::size_t count(Event::Kind kind) const noexcept {
    return counts_[static_cast<std::size_t>(kind)];
  }
  /// False if fewer events of that kind arrived within `patience`.
  bool await(Event::Kind kind, std::size_t least = 1) const {
    return eventually([&] { return count(kind) >= least; });
  }

 private:
  std::array<std::atomic<std::size_t>, static_cast<std::size_t>(Event::Kind::dropped) + 1>
      counts_{};
};

}  // namespace latchkey::tests
