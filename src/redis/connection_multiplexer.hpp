// The connections to the servers of one deployment, shared by all threads and driven by those that
// wait.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/options.hpp>

#include "core/at_fork.hpp"
#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "redis/adaptive_spin.hpp"
#include "redis/connect/tls.hpp"
#include "redis/leader_followers.hpp"
#include "redis/poll_set.hpp"
#include "redis/router.hpp"
#include "redis/server_connection.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::detail::redis {

/// Links, the transports under them and the threads around them. Thread-safe.
///
/// Whoever submits also sends, unless somebody sends just then, who takes its bytes along. Whoever
/// drives either reads for everybody, from all servers, or sleeps (drivers.hpp).
///
/// | order | mutex        | held while                                                          |
/// |-------|--------------|---------------------------------------------------------------------|
/// | 1     | write_mutex_ | bytes are sent, or a transport comes or goes                        |
/// | 2     | mutex_       | the router with its wires, the drivers and all else is looked at;   |
/// |       |              | never during a call of the system's or of a sink's                  |
/// | 3     | TLS's own    | one call of OpenSSL's                                               |
class ConnectionMultiplexer final : private ForkParticipant {
 public:
  /// Throws std::invalid_argument where the URI names files that cannot be used.
  ConnectionMultiplexer(RedisUri uri, const Options& options);
  ConnectionMultiplexer(const ConnectionMultiplexer&) = delete;
  ConnectionMultiplexer& operator=(const ConnectionMultiplexer&) = delete;
  ~ConnectionMultiplexer();

  /// Makes the first connections. Empty: they are there. Otherwise why they are not.
  std::optional<Failure> start();

  void submit(std::span<Request* const> requests, Sink& sink);
  void drive(Parker& parker, Clock::time_point until);
  void forget_parent() noexcept;

  /// Whether the connection before is always ended before a new one carries requests.
  [[nodiscard]] bool keeps_order() const noexcept;

  /// What speaks against a server, as a clause; empty: nothing.
  [[nodiscard]] std::string warning() const;

  /// To the servers that have keys.
  [[nodiscard]] std::vector<Connection> connections() const;

  [[nodiscard]] const RedisUri& uri() const noexcept { return uri_; }

 private:
  using Lock = std::unique_lock<SmallMutex>;

  // the reader's part, with its role
  void bring_forward(Lock& lock);
  bool deliver(Lock& lock);
  void dial(Lock& lock, ServerConnection& wire, bool begins);
  void look(Lock& lock, ServerConnection& wire);
  void read(Lock& lock, ServerConnection& wire);
  void fail(Lock& lock, ServerConnection& wire, Failure failure);
  void drop_idle(Lock& lock);

  /// A driver is known to threads_ as long as this lives, with mutex_ held when it goes.
  struct ThreadRegistration {
    ConnectionMultiplexer& connections;
    Lock& lock;
    WaitingThread& driver;
    bool delivered = false;

    ThreadRegistration(ConnectionMultiplexer& of, Lock& held, WaitingThread& sitting);
    ThreadRegistration(const ThreadRegistration&) = delete;
    ThreadRegistration& operator=(const ThreadRegistration&) = delete;
    ~ThreadRegistration();
  };

  /// How many requests were answered, or a little less.
  [[nodiscard]] std::uint64_t answered() const noexcept;
  [[nodiscard]] bool more_to_come() const noexcept;
  [[nodiscard]] Clock::time_point soonest() const noexcept;

  void flush(Lock& lock);
  void flush_all(Lock& lock);
  void send(Lock& lock, ServerConnection& wire);
  [[nodiscard]] bool holds_back() const noexcept;
  [[nodiscard]] ServerConnection* next_to_send() noexcept;
  [[nodiscard]] bool spins_first(const WaitingThread& driver, Clock::time_point now) const noexcept;
  Waiter::Reasons spin(WaitingThread& driver, Clock::time_point begun, Clock::time_point until,
                       Lock& lock);
  Clock::time_point yield(WaitingThread& driver, Lock& lock);
  bool take_turn(WaitingThread& driver, Lock& lock);
  bool sleep(WaitingThread& driver, Clock::time_point until, Lock& lock);
  Waiter::Reasons sleep_parked(WaitingThread& driver, Clock::time_point until, Lock& lock);
  Waiter::Reasons sleep_in_poll(WaitingThread& driver, Clock::time_point until, Lock& lock);
  [[nodiscard]] Clock::time_point due() const noexcept;
  void add_all(PollSet& set) const;  ///< with the reader's role: connections come and go by it
  void attend(const PollSet& polled, Lock& lock);
  void ready(Lock& lock, PollSet::Source source, short events);
  [[nodiscard]] FileDescriptor take_wake_fd() noexcept;
  void give_back(FileDescriptor wake_fd) noexcept;

  void prepare() noexcept LATCHKEY_FORK_HANDLER override;
  void parent() noexcept LATCHKEY_FORK_HANDLER override;
  void child() noexcept LATCHKEY_FORK_HANDLER override;

  const std::uint64_t number_;  ///< never used again, unlike an address
  const RedisUri uri_;
  const std::chrono::milliseconds timeout_;
  Clock& clock_;
  std::unique_ptr<TlsContext> tls_;

  SmallMutex write_mutex_;
  mutable SmallMutex mutex_;
  std::unique_ptr<Router> router_;
  std::uint64_t submitted_ = 0;
  std::uint64_t flushed_ = 0;  ///< of these; the others may wait to be sent
  std::uint64_t sockets_ = 0;  ///< counts connections that come and go
  std::size_t sent_last_ = 0;  ///< index of a wire: the next one has its turn
  FutexWaitSet wait_set_;
  LeaderFollowers threads_;
  AdaptiveSpin spin_;
  bool delivers_ = false;  ///< the reader hands out what came, and flushes after that
  static constexpr std::size_t most_wake_fds = 16;
  static constexpr std::size_t enough_at_once = 1'500;  ///< bytes: six commands or so
  std::vector<FileDescriptor> wake_fds_;                ///< that nobody uses now

  std::array<char, 16'384> bytes_{};  ///< the reader's; holds the largest TLS record
};

}  // namespace latchkey::detail::redis
