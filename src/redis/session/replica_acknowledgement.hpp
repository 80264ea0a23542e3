// Grants that count only after replicas have confirmed them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey_hiredis/hiredis.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/backend.hpp>

#include "redis/session/delivery_queue.hpp"

namespace latchkey::inline v1::detail::redis {

/// Decides when WAIT is sent and what its reply means for the grants before it. Pure; one thread at
/// a time.
///
/// At most one WAIT is in flight, for everything that was granted before it: the server does
/// nothing else on this connection while it lasts.
///
/// | state               | command written | WAIT sent | reply of WAIT | connection lost |
/// |---------------------|-----------------|-----------|---------------|-----------------|
/// | idle                | due             |           |               | idle            |
/// | due                 | due             | in_flight |               | idle            |
/// | in_flight           | in_flight_again |           | idle          | idle            |
/// | in_flight_again     | in_flight_again |           | due           | idle            |
class ReplicaAcknowledgement {
 public:
  using TimePoint = Clock::time_point;
  /// A release that too few replicas confirmed: a replica that takes over may still have the hold.
  struct UnreplicatedRelease {
    std::string key;
    Request release;

    [[nodiscard]] Request request() const noexcept;
  };

  /// `min_replicas` must confirm; 0: nothing needs a confirmation.
  ReplicaAcknowledgement(int min_replicas, std::chrono::milliseconds timeout) noexcept
      : min_replicas_(min_replicas), timeout_(timeout) {}

  /// Whether commands of this verb need a confirmation.
  [[nodiscard]] bool applies_to(Verb verb) const noexcept;

  /// A command that needs a confirmation was written.
  void require() noexcept;
  /// How long the WAIT to be sent now may last; empty: none is to be sent. With a value the WAIT
  /// counts as sent.
  [[nodiscard]] std::optional<std::chrono::milliseconds> start_wait(TimePoint now) noexcept;
  [[nodiscard]] int min_replicas() const noexcept { return min_replicas_; }
  /// How long the WAIT in flight lasts; 0: there is none.
  [[nodiscard]] std::chrono::milliseconds wait_in_flight() const noexcept;

  /// The server granted `grant`: it completes after the next WAIT. Throws std::bad_alloc.
  void await(const DeliveryQueue::Completion& grant, TimePoint deadline);
  /// The reply of the WAIT in flight. Throws std::bad_alloc.
  void on_wait_reply(const redisReply& reply, DeliveryQueue& deliveries);
  /// No reply of WAIT will arrive: unconfirmed grants end as unknown.
  void on_connection_lost(std::string_view why, DeliveryQueue& deliveries) noexcept;
  /// Grants whose deadline has passed end as unknown.
  void expire(TimePoint now, DeliveryQueue& deliveries) noexcept;
  [[nodiscard]] TimePoint next_expiry() const noexcept;
  /// How many grants await their confirmation.
  [[nodiscard]] std::size_t unconfirmed() const noexcept { return grants_.size(); }

  /// Releases to be sent once more on a new connection, which may lead to another server. A hold
  /// id is never used again after its release, so a release is idempotent.
  [[nodiscard]] const std::deque<UnreplicatedRelease>& unreplicated_releases() const noexcept {
    return unreplicated_releases_;
  }
  /// Takes over the releases of a session that has been retired. Throws std::bad_alloc.
  void adopt_releases(const ReplicaAcknowledgement& retired);

  /// In a forked child: everything belongs to the parent.
  void clear() noexcept;

 private:
  enum class Wait : std::uint8_t { idle, due, in_flight, in_flight_again };
  /// A command that the server granted and its replicas have not confirmed.
  struct UnconfirmedGrant {
    DeliveryQueue::Completion grant;
    TimePoint deadline;
  };

  void settle(const UnconfirmedGrant& unconfirmed, std::string_view why,
              DeliveryQueue& deliveries) noexcept;
  void end_unknown(std::string_view why, TimePoint overdue_at, DeliveryQueue& deliveries) noexcept;
  void remember_release(const Request& release);

  const int min_replicas_;
  const std::chrono::milliseconds timeout_;
  Wait wait_ = Wait::idle;
  std::chrono::milliseconds length_{};  ///< how long the last WAIT may last
  bool last_wait_failed_ = false;       ///< too few replicas confirmed within `length_`
  TimePoint full_wait_at_{};            ///< then: when a WAIT may last its whole time again
  std::vector<UnconfirmedGrant> grants_;
  std::deque<UnreplicatedRelease> unreplicated_releases_;
};

}  // namespace latchkey::inline v1::detail::redis
