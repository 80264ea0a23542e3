// One connection to one server, shared by all threads and driven by those that wait.
#pragma once

#include <poll.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <latchkey/backend.hpp>

#include "core/at_fork.hpp"
#include "core/small_mutex.hpp"
#include "redis/dialer.hpp"
#include "redis/drivers.hpp"
#include "redis/link.hpp"
#include "redis/redis_uri.hpp"
#include "redis/tls.hpp"
#include "redis/transport.hpp"

namespace latchkey::detail::redis {

/// A Link, the transport under it and the threads around it. Thread-safe.
///
/// Whoever submits also sends, unless somebody sends just then, who takes its bytes along. Whoever
/// drives either reads for everybody or sleeps (drivers.hpp).
///
/// | order | mutex        | held while                                                          |
/// |-------|--------------|---------------------------------------------------------------------|
/// | 1     | write_mutex_ | bytes are sent, or the transport comes or goes                      |
/// | 2     | mutex_       | the link, the drivers and all else is looked at; never during a     |
/// |       |              | call of the system's or of a sink's                                 |
/// | 3     | TLS's own    | one call of OpenSSL's                                               |
class SharedConnection final : private ForkParticipant {
 public:
  /// Throws std::invalid_argument where the URI names files that cannot be used.
  SharedConnection(RedisUri uri, std::chrono::milliseconds timeout, Clock& clock);
  SharedConnection(const SharedConnection&) = delete;
  SharedConnection& operator=(const SharedConnection&) = delete;
  ~SharedConnection();

  /// Makes the first connection. Empty: it is there. Otherwise why there is none.
  std::optional<Failure> start();

  void submit(std::span<Request* const> requests, Sink& sink);
  void drive(Parker& parker, Clock::time_point until);
  void forget_parent() noexcept;

  /// Whether the connection before is always ended before a new one carries requests.
  [[nodiscard]] bool keeps_order() const noexcept;

  /// What speaks against the server, as a clause; empty: nothing.
  [[nodiscard]] std::string warning() const;

  [[nodiscard]] const RedisUri& uri() const noexcept { return uri_; }

 private:
  using Lock = std::unique_lock<SmallMutex>;

  // the reader's part, with its role
  void bring_forward(Lock& lock);
  bool deliver(Lock& lock);
  void dial(Lock& lock, bool begins);
  void read(Lock& lock);
  void fail(Lock& lock, Failure failure);

  /// A driver is known to drivers_ as long as this lives, with mutex_ held when it goes.
  struct Seat {
    SharedConnection& connection;
    Lock& lock;
    Driver& driver;
    bool delivered = false;

    Seat(SharedConnection& of, Lock& held, Driver& sitting);
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;
    ~Seat();
  };

  void flush(Lock& lock);
  bool sleep(Driver& driver, Clock::time_point until, Lock& lock);
  Sleeper::Reasons sleep_parked(Driver& driver, Clock::time_point until, Lock& lock);
  Sleeper::Reasons sleep_in_poll(Driver& driver, Clock::time_point until, Lock& lock);
  [[nodiscard]] pollfd what_to_poll() const noexcept;
  void ready(short events, Lock& lock);
  [[nodiscard]] FileDescriptor take_bell() noexcept;
  void give_back(FileDescriptor bell) noexcept;

  void prepare() noexcept override;
  void parent() noexcept override;
  void child() noexcept override;

  const std::uint64_t number_;  ///< never used again, unlike an address
  const RedisUri uri_;
  const std::chrono::milliseconds timeout_;
  Clock& clock_;
  std::unique_ptr<TlsContext> tls_;

  SmallMutex write_mutex_;
  mutable SmallMutex mutex_;
  Link link_;
  Drivers drivers_;
  static constexpr std::size_t most_bells = 16;
  std::vector<FileDescriptor> bells_;  ///< that nobody uses now
  bool write_blocked_ = false;         ///< the transport takes no bytes until poll(2) says so
  std::optional<Failure> write_failure_;

  Transport transport_;
  Dialer dialer_;
  std::array<char, 16'384> bytes_{};  ///< the reader's; holds the largest TLS record
};

}  // namespace latchkey::detail::redis
