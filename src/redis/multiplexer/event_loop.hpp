// An event loop that takes part in a ConnectionMultiplexer.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <poll.h>

#include <cstdint>
#include <optional>
#include <vector>

#include <latchkey/loop_driver.hpp>
#include <latchkey/parker.hpp>

#include "core/file_descriptor.hpp"
#include "redis/multiplexer/adaptive_spin.hpp"
#include "redis/multiplexer/connection_multiplexer.hpp"

namespace latchkey::inline v1::detail::redis {

/// LeaderFollowers counts the loop as a thread that sleeps in poll(2). While it leads, an epoll
/// instance contains the descriptors of all connections; otherwise it contains only those by which
/// other threads and deadlines wake the loop.
class ConnectionMultiplexer::EventLoop final : public LoopDriver {
 public:
  /// Throws std::bad_alloc if the system has no descriptor left.
  explicit EventLoop(ConnectionMultiplexer& multiplexer);
  ~EventLoop() override { leave(); }

  [[nodiscard]] int descriptor() const noexcept override { return epoll_.get(); }
  void join() override;
  void drive() override;
  Next flush() noexcept override;
  void leave() noexcept override;

 private:
  /// The loop takes part no longer.
  [[nodiscard]] Parker::Wake end() noexcept LATCHKEY_REQUIRES(multiplexer_.state_.mutex);
  [[nodiscard]] bool try_lead() LATCHKEY_REQUIRES(multiplexer_.state_.mutex);
  void work() LATCHKEY_REQUIRES(multiplexer_.state_.mutex);
  /// Instead of a sleep, see AdaptiveSpin: a yield, and `drive` again.
  [[nodiscard]] bool spins() LATCHKEY_REQUIRES(multiplexer_.state_.mutex);
  void end_handlers() noexcept LATCHKEY_REQUIRES(multiplexer_.state_.mutex);
  /// Waits for the connections if the loop leads.
  void rest() LATCHKEY_REQUIRES(multiplexer_.state_.mutex);
  void watch_connections() LATCHKEY_REQUIRES(multiplexer_.state_.mutex);
  void watch(const pollfd& wanted) const noexcept;
  void unwatch_connections() noexcept;
  void set_timer(Clock::time_point due) noexcept;
  void clear_wake_ups() noexcept;

  ConnectionMultiplexer& multiplexer_;
  Parker parker_;  ///< for WaitingThread; nobody parks in it
  WaitingThread thread_;
  FileDescriptor epoll_;
  FileDescriptor wake_fd_;
  FileDescriptor timer_;
  Clock::time_point timer_due_ = Clock::never();
  std::vector<pollfd> watched_;                  ///< the connections in the epoll instance
  std::uint64_t watched_generation_ = 0;         ///< Reactor::generation when they were added
  const void* handlers_thread_ = nullptr;        ///< the one that runs handlers; null: none
  std::optional<AdaptiveSpin::Attempt> spin_{};  ///< empty: it does not spin
  bool joined_ = false;
};

}  // namespace latchkey::inline v1::detail::redis
