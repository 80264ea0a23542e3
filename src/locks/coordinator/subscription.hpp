// How far the subscription to one channel has come.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

namespace latchkey::inline v1::detail {

class RemoteHold;

/// A request of a coordinator. `context` is the Coordinator.
struct OwnedRequest : Request {
  RemoteHold* hold = nullptr;  ///< null: the request is about the key
};

/// A subscription to notifications about a key, or about one FAIR waiter.
///
/// | stage         | meaning                  | next stages                                |
/// |---------------|--------------------------|--------------------------------------------|
/// | off           | no subscription          | subscribing                                |
/// | subscribing   | SUBSCRIBE is in flight   | on, off (refused), unsubscribing (unknown) |
/// | on            | notifications arrive     | unsubscribing                              |
/// | unsubscribing | UNSUBSCRIBE is in flight | off                                        |
struct Subscription {
  enum class Stage : std::uint8_t { off, subscribing, on, unsubscribing };
  Stage stage = Stage::off;
  OwnedRequest request{};
  /// When an unsubscribe that was never sent is sent again.
  Clock::time_point retry_at = Clock::never();

  [[nodiscard]] bool in_flight() const noexcept {
    return stage == Stage::subscribing || stage == Stage::unsubscribing;
  }
  /// Nothing is left to be done at the backend.
  [[nodiscard]] bool ended() const noexcept {
    return stage == Stage::off && retry_at == Clock::never();
  }
};

}  // namespace latchkey::inline v1::detail
