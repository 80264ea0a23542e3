// The connections to the servers of one deployment, shared by all threads of the process.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/eventfd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/options.hpp>

#include "core/at_fork.hpp"
#include "core/file_descriptor.hpp"
#include "core/thread_annotations.hpp"
#include "redis/connect/tls.hpp"
#include "redis/multiplexer/adaptive_spin.hpp"
#include "redis/multiplexer/multiplexer_state.hpp"
#include "redis/multiplexer/reactor.hpp"
#include "redis/multiplexer/write_batcher.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::inline v1::detail::redis {

/// Lends wake-up descriptors and keeps those that come back. Not thread-safe.
class WakeFdPool {
 public:
  /// Throws std::bad_alloc.
  WakeFdPool() { spare_.reserve(max_spare); }

  /// Invalid if the system has no descriptor left.
  [[nodiscard]] FileDescriptor take() noexcept {
    if (spare_.empty()) return FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    FileDescriptor wake_fd = std::move(spare_.back());
    spare_.pop_back();
    return wake_fd;
  }

  void give_back(FileDescriptor wake_fd) noexcept {
    if (wake_fd.valid() && spare_.size() < spare_.capacity()) spare_.push_back(std::move(wake_fd));
  }

  void clear() noexcept { spare_.clear(); }

 private:
  static constexpr std::size_t max_spare = 16;

  std::vector<FileDescriptor> spare_;
};

/// Sends the requests of all threads over one connection per server and delivers the replies. It
/// has no thread of its own: the threads that wait in `drive` do the I/O. Thread-safe.
///
/// | part           | decides                                                  |
/// |----------------|----------------------------------------------------------|
/// | Router         | which server a request goes to                           |
/// | Reactor        | what to poll, and what to do about events and deadlines  |
/// | LeaderFollowers| which of the waiting threads runs the reactor            |
/// | WriteBatcher   | when commands are sent, and which together               |
/// | AdaptiveSpin   | whether a thread spins before it sleeps                  |
/// | FutexWaitSet   | how threads without leadership sleep and are woken       |
class ConnectionMultiplexer final : private ForkParticipant {
 public:
  class EventLoop;

  /// Throws std::invalid_argument if the URI names files that cannot be used.
  ConnectionMultiplexer(RedisUri uri, const Options& options);
  ConnectionMultiplexer(const ConnectionMultiplexer&) = delete;
  ConnectionMultiplexer& operator=(const ConnectionMultiplexer&) = delete;
  ~ConnectionMultiplexer();

  /// Makes the first connections. Empty: they are up. Otherwise the reason why they are not.
  std::optional<Failure> start();

  /// The calling thread also sends the requests, unless another thread sends just now and takes
  /// them along, or they are held back for a larger batch.
  void submit(std::span<Request* const> requests, Sink& sink);
  /// As Backend::cork. One thread at a time keeps its requests; those of another are sent at once.
  void cork() noexcept;
  void uncork() noexcept;
  /// As Backend::drive.
  void drive(Parker& parker, Clock::time_point until);
  void forget_parent() noexcept;

  /// Whether an old connection is always closed by its server before a new one carries requests.
  [[nodiscard]] bool keeps_order() const noexcept;

  /// The run_id of the only server; empty: there are several, or it is not connected or does not
  /// say.
  [[nodiscard]] std::string identity() const;

  /// Whether each server tells of changes of keys.
  [[nodiscard]] bool watches() const;

  /// Why a server is unsuitable, as a clause; empty if there is no reason.
  [[nodiscard]] std::string warning() const;

  /// The connections to servers that hold keys.
  [[nodiscard]] std::vector<Connection> connections() const;

  [[nodiscard]] const RedisUri& uri() const noexcept { return uri_; }

 private:
  class Participation;

  void flush() noexcept LATCHKEY_REQUIRES(state_.mutex);
  /// An address of its own for each thread.
  [[nodiscard]] static const void* calling_thread() noexcept;
  /// Calls the sinks of everything that has arrived. True: there was something.
  bool deliver() LATCHKEY_REQUIRES(state_.mutex);
  [[nodiscard]] bool expects_more() const noexcept LATCHKEY_REQUIRES(state_.mutex);
  [[nodiscard]] LeaderFollowers::LeaveContext outlook(bool more_expected) const noexcept
      LATCHKEY_REQUIRES(state_.mutex);

  /// True: the parker of the thread was unparked.
  bool wait(Participation& self, Clock::time_point until) LATCHKEY_REQUIRES(state_.mutex);
  [[nodiscard]] bool should_spin(const Participation& self, Clock::time_point now) const noexcept
      LATCHKEY_REQUIRES(state_.mutex);
  Waiter::Reasons spin(Participation& self, Clock::time_point begin, Clock::time_point until)
      LATCHKEY_REQUIRES(state_.mutex);
  Clock::time_point yield(WaitingThread& thread) LATCHKEY_REQUIRES(state_.mutex);
  bool poll_once(WaitingThread& thread) LATCHKEY_REQUIRES(state_.mutex);
  Waiter::Reasons sleep_in_futex(WaitingThread& thread, Clock::time_point until)
      LATCHKEY_REQUIRES(state_.mutex);
  Waiter::Reasons sleep_in_poll(WaitingThread& thread, Clock::time_point until)
      LATCHKEY_REQUIRES(state_.mutex);
  Waiter::Reasons poll_until(WaitingThread& thread, PollSet& polled, const FileDescriptor& wake_fd,
                             Clock::time_point until) LATCHKEY_REQUIRES(state_.mutex);

  void prepare() noexcept LATCHKEY_FORK_HANDLER override;
  void parent() noexcept LATCHKEY_FORK_HANDLER override;
  void child() noexcept LATCHKEY_FORK_HANDLER override;

  const std::uint64_t number_;  ///< never used again, unlike an address
  const RedisUri uri_;
  const std::chrono::milliseconds timeout_;
  Clock& clock_;
  const std::unique_ptr<TlsContext> tls_;

  MultiplexerState state_;
  Reactor reactor_ LATCHKEY_GUARDED_BY(state_.mutex);
  WriteBatcher writer_ LATCHKEY_GUARDED_BY(state_.mutex);
  AdaptiveSpin adaptive_spin_ LATCHKEY_GUARDED_BY(state_.mutex);
  WakeFdPool wake_fds_ LATCHKEY_GUARDED_BY(state_.mutex);
  FutexWaitSet wait_set_;  ///< thread-safe
};

}  // namespace latchkey::inline v1::detail::redis
