// The connection to a ZooKeeper ensemble: connects, reconnects, gives a session up.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <latchkey/clock.hpp>

#include "backend/connection/reconnect_policy.hpp"
#include "core/file_descriptor.hpp"
#include "stores/driver/descriptor_set.hpp"
#include "stores/zookeeper/session.hpp"

namespace latchkey::inline v1::detail::zookeeper {

/// The events that a ZooKeeperConnection reports.
class ConnectionEvents {
 public:
  /// Operations under way are not answered. `why`: a clause.
  virtual void on_link_lost(const std::string& why) = 0;
  /// The session has ended. Comes after on_link_lost: no operation is under way.
  virtual void on_session_lost() = 0;
  /// Operations may be sent. `resumed`: the session is the one before.
  virtual void on_link_up(bool resumed) = 0;
  /// All servers were tried in vain, or the ensemble rejects this client. May be repeated.
  virtual void on_down(const std::string& why) = 0;
  virtual void on_node_event(std::string_view path, NodeEvent event) = 0;

 protected:
  ~ConnectionEvents() = default;
};

/// Sessions one after the other. Only the start and the end of a session wait (see Session).
///
/// | stage      | meaning                                        | next                           |
/// |------------|------------------------------------------------|--------------------------------|
/// | apart      | there is no session; the next attempt is due   | connecting                     |
/// | connecting | the library connects to one server after the   | greeting; apart if the session |
/// |            | other                                          | has ended or lasted too long   |
/// | greeting   | connected; the first operation is under way    | up, connecting, apart          |
/// | up         | operations may be sent                         | connecting                     |
class ZooKeeperConnection {
 public:
  using TimePoint = Clock::time_point;
  enum class Stage : std::uint8_t { apart, connecting, greeting, up };

  ZooKeeperConnection(const ZooKeeperUri& uri, std::chrono::milliseconds timeout,
                      ConnectionEvents& events, stores::DescriptorSet& descriptors);

  [[nodiscard]] Stage stage() const noexcept { return stage_; }
  [[nodiscard]] bool is_up() const noexcept { return stage_ == Stage::up; }
  /// Only if it is up or in an event.
  [[nodiscard]] Session& session() noexcept { return *session_; }
  [[nodiscard]] const ReconnectPolicy& policy() const noexcept { return policy_; }
  /// The ensemble rejects this client; null: it does not, as far as is known.
  [[nodiscard]] const ConnectionFailure* rejection() const noexcept;

  /// A caller needs the connection.
  void want(TimePoint now) noexcept { policy_.want(now); }
  /// Whether this process holds or awaits something. Then the server hears from it every tenth of
  /// the session. The leader, which ends sessions, learns of that twice in a tick, and a renewal
  /// proves no more than that it has heard of the signs of life before the last time.
  void keep_session(bool keep) noexcept { keeps_session_ = keep; }
  /// Reads, connects, and does what is due.
  void advance(TimePoint now);
  /// After operations were sent: what is to be waited for.
  void rest(TimePoint now);
  [[nodiscard]] TimePoint due() const noexcept;
  /// As StoreClient::start_over: ends the connection, but not the session. No event is told.
  void start_over(TimePoint now) noexcept;
  /// In a forked child.
  void abandon() noexcept;

 private:
  void open(TimePoint now);
  void watch(short events);
  void unwatch() noexcept;
  void close() noexcept;
  void examine(TimePoint now);
  void greet(TimePoint now);
  void on_greeted(int code, bool resumed);
  void on_ended(TimePoint now);
  void lose(TimePoint now, const std::string& why);
  void fail(ConnectionFailure failure, TimePoint now);
  void give_session_up(TimePoint now);
  void check_silence(TimePoint now);
  [[nodiscard]] TimePoint next_sign_of_life() const noexcept;
  [[nodiscard]] std::string why_ended() const;

  const ZooKeeperUri uri_;
  const std::chrono::milliseconds timeout_;
  ConnectionEvents& events_;
  stores::DescriptorSet& descriptors_;
  ReconnectPolicy policy_;
  std::unique_ptr<Session> session_;
  Stage stage_ = Stage::apart;
  bool was_up_ = false;  ///< this session was up once
  bool keeps_session_ = false;
  std::string rejected_;     ///< why the server does not let this client in; empty: it does
  int watched_ = -1;         ///< the library's descriptor that `own_` duplicates
  FileDescriptor own_;       ///< in `descriptors_`
  unsigned seen_ended_ = 0;  ///< Session::ended
  unsigned failed_ = 0;      ///< servers that were tried in vain since it was up
  TimePoint now_{};          ///< when `advance` or `rest` was called last
  TimePoint stage_since_{};  ///< connecting: when the attempt began
  TimePoint lost_at_{};      ///< when this session was connected last
  TimePoint library_due_ = Clock::never();
};

}  // namespace latchkey::inline v1::detail::zookeeper
