// The client of a PostgreSQL database.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/options.hpp>

#include "backend/connection/reconnect_policy.hpp"
#include "stores/driver/batch_pacing.hpp"
#include "stores/driver/store_client.hpp"
#include "stores/postgresql/batch.hpp"
#include "stores/postgresql/connection.hpp"

namespace latchkey::inline v1::detail::postgresql {

/// One connection, on which batches of requests follow one another.
class PostgresqlClient final : public stores::StoreClient {
 public:
  PostgresqlClient(PostgresqlUri uri, const Options& options);

  [[nodiscard]] Capabilities capabilities() const noexcept override;
  [[nodiscard]] std::string describe() const override { return uri_.describe(); }
  [[nodiscard]] std::string warning() const override { return connection_.warning(); }
  [[nodiscard]] Start start_state() const noexcept override;
  [[nodiscard]] const ConnectionFailure* failure() const noexcept override {
    return policy_.last_failure();
  }
  void submit(std::span<Request* const> requests, Sink& sink) override;
  void send(Clock::time_point now) override;
  void advance(Clock::time_point now) override;
  void start_over(Clock::time_point now) noexcept override;
  [[nodiscard]] Clock::time_point due() const noexcept override;
  /// Notifications arrive only if something is subscribed to.
  [[nodiscard]] bool awaits_events() const noexcept override {
    return !connection_.is_up() || !subscriptions_.empty();
  }
  void abandon() noexcept override;

 private:
  void connect(Clock::time_point now);
  void go_up(Clock::time_point now);
  void go_down(const ConnectionFailure& failure, Clock::time_point now);
  /// Reads what has arrived, and sends the next batch.
  void exchange(Clock::time_point now);
  void read_notifications();
  /// Adds the subscription, or the watch, that the request asks for. Returns whether it is new.
  bool add_listener(const Request& request, Sink& sink);
  void remove_listener(const Request& request, Sink& sink) noexcept;
  [[nodiscard]] bool is_own(const Request& request) const noexcept {
    return request.id.space == last_acquired_.space;
  }
  /// Whether the last upkeep has found fewer subscriptions at the server than are wanted.
  [[nodiscard]] bool has_lost_subscriptions();
  /// Sends a batch if none is under way, and it is time. False: the connection is broken.
  [[nodiscard]] bool send_batch(Clock::time_point now);
  /// Requests and connection are gone; subscriptions stay.
  void forget_requests() noexcept;
  /// Gives up requests that have waited too long for a connection.
  void give_up(Clock::time_point now);
  [[nodiscard]] Clock::time_point gives_up_at(const QueuedRequest& queued) const noexcept;

  const PostgresqlUri uri_;
  const std::chrono::milliseconds timeout_;
  Clock& clock_;
  const std::unique_ptr<Layout> layout_;
  Subscriptions subscriptions_;
  PostgresqlConnection connection_;
  Batch batch_;
  ReconnectPolicy policy_;
  RequestQueue queue_;
  HoldId last_acquired_;                              ///< the holds of this client have its space
  Clock::time_point batch_ends_at_ = Clock::never();  ///< no reply until then: the link is down
  Clock::time_point batch_sent_{};
  stores::BatchPacing pacing_;
  Clock::time_point upkeep_at_ = Clock::never();
};

}  // namespace latchkey::inline v1::detail::postgresql
