// One connection to PostgreSQL, from the first byte until it can be used.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <latchkey/clock.hpp>

#include "stores/driver/descriptor_set.hpp"
#include "stores/driver/host_lookup.hpp"
#include "stores/postgresql/layout.hpp"
#include "stores/postgresql/subscriptions.hpp"

namespace latchkey::inline v1::detail::postgresql {

/// Connects without blocking and makes the connection ready.
///
/// | state       | waits for                                            | then         |
/// |-------------|------------------------------------------------------|--------------|
/// | down        | start                                                | resolving    |
/// | resolving   | the addresses of the hosts                           | connecting   |
/// | connecting  | libpq: TCP, TLS, authentication                      | identifying  |
/// | identifying | settings; the id of the server process               | checking     |
/// | checking    | whether the tables can be used                       | ending_old;  |
/// |             |                                                      | creating     |
/// | creating    | the tables (create=yes)                              | checking     |
/// | ending_old  | the end of this client's last session at the server, | restoring    |
/// |             | which may still have requests to run                 |              |
/// | restoring   | prepared statements, LISTEN, subscriptions           | up           |
/// | up          | close; the connection is in pipeline mode            | down         |
///
/// A failure in any state leads to `down`.
class PostgresqlConnection {
 public:
  enum class State {
    down,
    resolving,
    connecting,
    identifying,
    checking,
    creating,
    ending_old,
    restoring,
    up
  };

  PostgresqlConnection(const PostgresqlUri& uri, const Layout& layout,
                       const Subscriptions& subscriptions, stores::DescriptorSet& descriptors,
                       std::chrono::milliseconds timeout);
  PostgresqlConnection(const PostgresqlConnection&) = delete;
  PostgresqlConnection& operator=(const PostgresqlConnection&) = delete;
  ~PostgresqlConnection();

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool is_up() const noexcept { return state_ == State::up; }
  [[nodiscard]] PGconn* connection() const noexcept { return connection_.get(); }
  /// A warning about the database, for people; empty: there is none.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }
  /// Whether forced releases of others are told of. Before the first check of the tables: whether
  /// that is wanted.
  [[nodiscard]] bool is_told_of_losses() const noexcept {
    return tells_of_losses_ && subscriptions_.may_watch();
  }
  /// Whether the session's server process has this id.
  [[nodiscard]] bool is_served_by(int process) const {
    return mine_.process == std::to_string(process);
  }

  void start(Clock::time_point now);
  /// Continues an attempt until it is up. Returns why the attempt has failed, if it has: then it is
  /// down. Throws std::bad_alloc.
  [[nodiscard]] std::optional<ConnectionFailure> advance(Clock::time_point now);
  [[nodiscard]] Clock::time_point due() const noexcept;
  /// Flushes, and waits for input, and for output if not everything could be written.
  [[nodiscard]] bool flush();
  /// libpq reads what has arrived, and keeps all of a result until it is complete. False: the
  /// connection is broken, or more than `longest_result` has arrived since the last one.
  [[nodiscard]] bool read();
  static constexpr std::size_t longest_result = std::size_t{64} << 20;
  /// A result or a notification is complete: `longest_result` counts from here.
  void result_ended() noexcept { bytes_ended_ = bytes_read_; }
  /// Why `read` has returned false.
  [[nodiscard]] std::string why_broken() const;
  void close() noexcept;
  /// In a forked child: closes the socket without sending a byte.
  void abandon() noexcept;

 private:
  /// A server process; its id may be used again, but not with the same start.
  struct Identity {
    std::string process, started;
  };

  void connect(const std::vector<stores::HostLookup::Address>& addresses);
  void watch(short events);
  void forget_descriptor() noexcept;
  /// As before the first attempt.
  void forget_connection() noexcept;
  [[nodiscard]] std::optional<ConnectionFailure> step(Clock::time_point now);
  [[nodiscard]] std::optional<ConnectionFailure> resolve();
  [[nodiscard]] std::optional<ConnectionFailure> poll_connection();
  /// The result of the query under way: the last with rows, or the first error. Null: not yet.
  [[nodiscard]] ResultHandle result();
  [[nodiscard]] std::optional<ConnectionFailure> read_result(const PGresult* found,
                                                             Clock::time_point now);
  [[nodiscard]] std::optional<ConnectionFailure> on_identity(const PGresult* found);
  [[nodiscard]] std::optional<ConnectionFailure> on_check(const PGresult* found);
  [[nodiscard]] std::optional<ConnectionFailure> on_old_session(const PGresult* found,
                                                                Clock::time_point now);
  [[nodiscard]] std::optional<ConnectionFailure> query(State next, const std::string& sql);
  [[nodiscard]] std::optional<ConnectionFailure> restore();
  [[nodiscard]] std::optional<ConnectionFailure> read_restored();
  [[nodiscard]] std::string identity_query() const;
  [[nodiscard]] std::string old_session_query() const;
  [[nodiscard]] ConnectionFailure lost() const;
  [[nodiscard]] bool is_too_long() const noexcept;

  const PostgresqlUri& uri_;
  const Layout& layout_;
  const Subscriptions& subscriptions_;
  stores::DescriptorSet& descriptors_;
  const std::chrono::milliseconds timeout_;

  State state_ = State::down;
  ConnectionHandle connection_;
  int watched_ = -1;  ///< the connection's descriptor, while it is watched
  std::unique_ptr<stores::HostLookup> lookup_;
  ResultHandle collected_;
  std::uint64_t bytes_read_ = 0;                 ///< from the connection, by libpq
  std::uint64_t bytes_ended_ = 0;                ///< those of them up to `result_ended`
  Clock::time_point ends_at_ = Clock::never();   ///< when the attempt is overdue
  Clock::time_point again_at_ = Clock::never();  ///< ending_old: the next look
  bool created_ = false;                         ///< in this attempt
  bool is_old_ = false;                          ///< the layout's check has found old tables
  bool tells_of_losses_ = true;                  ///< unless the layout's check finds otherwise
  std::string warning_;                          ///< from the layout's check
  Identity mine_, old_;
};

}  // namespace latchkey::inline v1::detail::postgresql
