// The client of MariaDB or MySQL.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include <latchkey/options.hpp>

#include "backend/connection/reconnect_policy.hpp"
#include "stores/driver/batch_pacing.hpp"
#include "stores/driver/store_client.hpp"
#include "stores/mysql/batch.hpp"
#include "stores/mysql/connection.hpp"
#include "stores/mysql/handshake.hpp"
#include "stores/mysql/layout.hpp"

namespace latchkey::inline v1::detail::mysql {

/// One connection. While the server works on one transaction, requests wait for the next.
///
/// | stage      | meaning                                    | left by                           |
/// |------------|--------------------------------------------|-----------------------------------|
/// | down       | no connection until the policy's next time | connecting                        |
/// | connecting | network and log-in                         | handshake; down                   |
/// | handshake  | the session is set up                      | pausing; up; down                 |
/// | pausing    | the handshake is to continue soon          | handshake; down                   |
/// | up         | requests are sent                          | down: a loss, or an overdue reply |
class MysqlClient final : public stores::StoreClient {
 public:
  MysqlClient(MysqlUri uri, const Options& options);

  [[nodiscard]] Capabilities capabilities() const noexcept override {
    return layout_->capabilities();
  }
  [[nodiscard]] std::string describe() const override { return uri_.describe(); }
  [[nodiscard]] Start start_state() const noexcept override;
  [[nodiscard]] const ConnectionFailure* failure() const noexcept override {
    return policy_.last_failure();
  }
  void submit(std::span<Request* const> requests, Sink& sink) override;
  void send(Clock::time_point now) override;
  void advance(Clock::time_point now) override;
  void start_over(Clock::time_point now) noexcept override;
  [[nodiscard]] Clock::time_point due() const noexcept override;
  /// The server sends nothing but replies.
  [[nodiscard]] bool awaits_events() const noexcept override { return stage_ != Stage::up; }
  void abandon() noexcept override;

 private:
  using TimePoint = Clock::time_point;
  enum class Stage { down, connecting, handshake, pausing, up };

  /// True: something has changed, and there may be more to do.
  bool step(TimePoint now);
  bool shake_hands(TimePoint now);
  bool serve(TimePoint now);
  /// Sends what waits, if the connection is idle and there is enough. True: it was sent.
  bool send_batch(TimePoint now);
  void run(std::string text, TimePoint now);
  void lose(ConnectionFailure failure, TimePoint now);
  /// Forgets the requests of a connection that has gone.
  void forget_requests() noexcept;
  [[nodiscard]] std::string overdue() const;
  /// Until when a request waits for a connection.
  [[nodiscard]] TimePoint gives_up_at(const Request& request, TimePoint submitted) const noexcept;

  const MysqlUri uri_;
  const std::chrono::milliseconds timeout_;
  Clock& clock_;
  const std::unique_ptr<Layout> layout_;
  MysqlConnection connection_;
  Handshake handshake_;
  Batch batch_;
  ReconnectPolicy policy_;
  Stage stage_ = Stage::down;
  /// When the whole attempt (connecting, handshake, pausing) or the reply (up) is overdue.
  TimePoint deadline_ = Clock::never();
  TimePoint retry_at_{};  ///< pausing
  std::optional<ServerSession> session_;
  TimePoint sent_{};  ///< when the last batch was sent
  stores::BatchPacing pacing_;
  bool sweeping_ = false;  ///< a sweep runs
  std::string swept_to_;
  TimePoint next_sweep_{};
};

}  // namespace latchkey::inline v1::detail::mysql
