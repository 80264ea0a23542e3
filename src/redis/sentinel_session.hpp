// One sentinel, and what it says of the master.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <latchkey/clock.hpp>

#include "redis/command_buffer.hpp"
#include "redis/failure.hpp"
#include "redis/multiplexer/poll_set.hpp"
#include "redis/redis_uri.hpp"
#include "redis/reply_reader.hpp"
#include "redis/tcp_connector.hpp"
#include "redis/transport.hpp"

namespace latchkey::detail::redis {

/// A connection that asks where the master is, and hears when it is another one. Never blocks. One
/// thread at a time.
///
/// | flight | commands                                        | why                               |
/// |--------|-------------------------------------------------|-----------------------------------|
/// | 1      | HELLO 3 [AUTH user password] SETNAME name       | RESP3, login                      |
/// |        | SUBSCRIBE +switch-master and two more, PING     | to ask again when a failover is   |
/// |        |                                                 | on its way                        |
/// | each   | SENTINEL MASTER name                            | the config epoch: of sentinels    |
/// |        |                                                 | that disagree the higher is right |
/// |        | SENTINEL GET-MASTER-ADDR-BY-NAME name           | the address, which is new here    |
/// |        |                                                 | before it is in SENTINEL MASTER   |
class SentinelSession {
 public:
  using TimePoint = Clock::time_point;

  struct Answer {
    RedisUri::Endpoint master;
    std::uint64_t epoch = 0;

    friend bool operator==(const Answer&, const Answer&) = default;
  };

  /// `uri` is the sentinel's; `tls` outlives it, null: without. One that says nothing for
  /// `patience` while it should is given up.
  SentinelSession(RedisUri uri, const TlsContext* tls, std::string master,
                  std::chrono::milliseconds patience);

  /// Asks, or asks anew. A connection is made where there is none.
  void ask(TimePoint now);
  /// Looks what came. It asks again from time to time, and after a failure a second later.
  void go_on(TimePoint now);
  [[nodiscard]] TimePoint due() const noexcept;
  void wait_for(PollSet& set, PollSet::Source source) const;

  enum class State : std::uint8_t { asked, answered, failed };
  /// Of the latest question.
  [[nodiscard]] State state() const noexcept { return state_; }
  /// The last one ever given; empty also where it says that it knows of no master any more.
  [[nodiscard]] const std::optional<Answer>& answer() const noexcept { return answer_; }
  /// The sentinel has been gone for so long that its answer is history.
  [[nodiscard]] bool is_out_of_date(TimePoint now) const noexcept;
  [[nodiscard]] const Failure& failure() const noexcept { return failure_; }
  [[nodiscard]] const RedisUri& uri() const noexcept { return uri_; }

  void lock_for_fork() noexcept { transport_.lock_for_fork(); }
  void unlock_after_fork() noexcept { transport_.unlock_after_fork(); }
  /// In a forked child.
  void abandon() noexcept;

 private:
  enum class Stage : std::uint8_t { down, dialing, talking };
  enum class Question : std::uint8_t { hello, ears, master, address };

  void dialed(const Io& io, TimePoint now);
  void say(TimePoint now);
  void write(TimePoint now);
  void read(TimePoint now);
  void hear(const redisReply& reply, TimePoint now);
  void told(const redisReply& reply, TimePoint now);
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
  bool ask_again_ = false;  ///< something happened while a question was under way
  Question expected_ = Question::hello;
  bool answers_owed_ = false, ears_refused_ = false;
  TimePoint deadline_ = Clock::never();  ///< asked
  TimePoint ask_at_ = Clock::never();
  Answer heard_;  ///< while it is being told
  std::optional<Answer> answer_;
  TimePoint answered_at_{};
  Failure failure_;
};

}  // namespace latchkey::detail::redis
