// The connection to one sentinel, and which server it names as the master.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <latchkey/clock.hpp>

#include "redis/connect/connector.hpp"
#include "redis/connect/poll_set.hpp"
#include "redis/connect/transport.hpp"
#include "redis/protocol/command_buffer.hpp"
#include "redis/protocol/failure.hpp"
#include "redis/protocol/reply_reader.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::inline v1::detail::redis {

/// Queries a sentinel for the master, and queries again when the sentinel publishes a failover.
/// Never blocks. One thread at a time.
///
/// | sent       | command                                     | purpose                          |
/// |------------|---------------------------------------------|----------------------------------|
/// | on connect | HELLO 3 [AUTH user password] SETNAME name   | RESP3, login                     |
/// |            | SUBSCRIBE +switch-master and two more, PING | to query again at a failover     |
/// | each query | SENTINEL MASTER name                        | the config epoch: if sentinels   |
/// |            |                                             | disagree, the highest is right   |
/// |            | SENTINEL GET-MASTER-ADDR-BY-NAME name       | the address, which changes here  |
/// |            |                                             | before it is in SENTINEL MASTER  |
class SentinelSession {
 public:
  using TimePoint = Clock::time_point;

  struct Answer {
    RedisUri::Endpoint master;
    std::uint64_t epoch = 0;

    friend bool operator==(const Answer&, const Answer&) = default;
  };

  /// `uri` is that of the sentinel. `tls` outlives the session; null: no TLS. The connection is
  /// closed if the sentinel owes a reply for `patience`.
  SentinelSession(RedisUri uri, const TlsContext* tls, std::string master,
                  std::chrono::milliseconds patience);

  /// Starts a query, after connecting if there is no connection.
  void query(TimePoint now);
  /// Reads what has arrived. Repeats the query from time to time, and a second after a failure.
  void resume(TimePoint now);
  [[nodiscard]] TimePoint due() const noexcept;
  void wait_for(PollSet& set, PollSet::Source source) const;

  enum class State : std::uint8_t { querying, answered, failed };
  /// The state of the latest query.
  [[nodiscard]] State state() const noexcept { return state_; }
  /// The last answer. Empty: there was none, or the sentinel does not know the master any more.
  [[nodiscard]] const std::optional<Answer>& answer() const noexcept { return answer_; }
  /// Whether the latest query that has ended failed, and the last answer is too old to count.
  [[nodiscard]] bool is_out_of_date(TimePoint now) const noexcept;
  [[nodiscard]] const Failure& failure() const noexcept { return failure_; }
  [[nodiscard]] const RedisUri& uri() const noexcept { return uri_; }

  void lock_for_fork() noexcept { transport_.lock_for_fork(); }
  void unlock_after_fork() noexcept { transport_.unlock_after_fork(); }
  /// In a forked child: closes the connection without sending a byte.
  void abandon() noexcept;

 private:
  enum class Stage : std::uint8_t { down, connecting, connected };
  /// The command whose reply is next.
  ///
  /// | expected  | after a reply | after an error |
  /// |-----------|---------------|----------------|
  /// | nothing   | failure       | failure        |
  /// | hello     | subscribe     | failure        |
  /// | subscribe | nothing       | ping           |
  /// | ping      | nothing       | nothing        |
  /// | master    | address       | failure        |
  /// | address   | nothing       | failure        |
  enum class Expected : std::uint8_t { nothing, hello, subscribe, ping, master, address };

  void on_connect_result(const Io& io, TimePoint now);
  void send_query(TimePoint now);
  void write(TimePoint now);
  void read(TimePoint now);
  void read_replies(TimePoint now);
  void on_reply(const redisReply& reply, TimePoint now);
  void on_command_reply(const redisReply& reply, TimePoint now);
  void on_address(const redisReply& reply, TimePoint now);
  void fail(Failure failure, TimePoint now);

  const RedisUri uri_;
  const std::string master_;
  const std::chrono::milliseconds patience_;
  Transport transport_;
  TcpConnector tcp_connector_;
  ReplyReader reader_;
  CommandBuffer out_;
  Stage stage_ = Stage::down;
  State state_ = State::failed;
  Expected expected_ = Expected::nothing;
  bool query_again_ = false;             ///< a failover was published during a query
  TimePoint deadline_ = Clock::never();  ///< querying
  TimePoint query_at_ = Clock::never();  ///< when the next query is due
  Answer incoming_;                      ///< the part of the answer that has arrived
  std::optional<Answer> answer_;
  TimePoint answered_at_{};
  bool failed_since_ = false;  ///< a query has failed since the last answer
  Failure failure_;
};

}  // namespace latchkey::inline v1::detail::redis
