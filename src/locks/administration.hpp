// A question about keys that no coordinator asks.
#pragma once

#include <atomic>
#include <utility>

#include <latchkey/backend.hpp>

namespace latchkey::detail {

/// A request of inspect, list or force_release, told from a coordinator's by its null context.
struct Administration : Request {
  Parker* parker = nullptr;
  Outcome outcome{};
  std::atomic<bool> done{false};

  /// On whichever thread drives. The request is its caller's again as soon as `done` is seen.
  void answer(Outcome&& what) noexcept {
    Parker* const sleeper = parker;
    outcome = std::move(what);
    done.store(true, std::memory_order_release);
    sleeper->unpark();
  }
};

}  // namespace latchkey::detail
