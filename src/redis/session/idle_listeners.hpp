// Who listens to the channels of locks that this process keeps idle.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

#include "redis/protocol/command_buffer.hpp"
#include "redis/protocol/layout.hpp"
#include "redis/protocol/names.hpp"
#include "redis/protocol/reply.hpp"
#include "redis/session/delivery_queue.hpp"

namespace latchkey::inline v1::detail::redis {

/// The idle locks of a session, and when the server is asked who listens to their channels. Clients
/// that take no place in a queue, such as Redisson's, write nothing while they wait: they
/// subscribe, of which the server tells nobody. One PUBSUB NUMSUB, or SHARDNUMSUB, asks for all
/// locks: in a cluster for those of one node, to which clients listen at that node. Pure; one
/// thread at a time.
class IdleListeners {
 public:
  using TimePoint = Clock::time_point;
  /// The time between two questions, once more for each of so many locks, unless an answer takes
  /// longer.
  static constexpr std::chrono::milliseconds interval{5};
  static constexpr std::size_t locks_for_an_interval = 256;

  explicit IdleListeners(const Layout& layout) noexcept : layout_(layout) {}

  /// The reply to `request`. The lock is idle after an `expire` with Request::recall that the
  /// server has granted without naming anybody who waits; a renewal prolongs that. Throws
  /// std::bad_alloc.
  void on_reply(const Request& request, const Outcome& outcome, TimePoint now);
  /// The process sends `request`. A lock is idle no longer if the request changes it.
  void note(const Request& request) noexcept;
  void clear() noexcept;
  [[nodiscard]] bool empty() const noexcept { return locks_.empty(); }

  /// When to ask; never: no lock is idle, or an answer is awaited.
  [[nodiscard]] TimePoint due() const noexcept { return due_; }
  /// `sharded`: they listen with SSUBSCRIBE. Throws std::bad_alloc.
  void append_question(CommandBuffer& out, bool sharded, TimePoint now);
  /// Notifies the sinks of the locks to whose channels somebody listens, which are idle no longer.
  /// If the user may not ask, these are all: nobody knows who waits for them. Throws
  /// std::bad_alloc.
  void on_answer(const redisReply& answer, TimePoint now, DeliveryQueue& deliveries);

 private:
  struct Idle {
    Channels channels;
    TimePoint until;  ///< the lock ends at the server
  };
  struct Asked {
    std::string key;
    std::size_t channels;
  };
  void plan(TimePoint from, TimePoint now) noexcept;

  const Layout& layout_;
  std::map<std::string, Idle, std::less<>> locks_;
  std::vector<Asked> asked_;  ///< in the order of the question
  TimePoint asked_at_{};
  TimePoint due_ = Clock::never();
};

}  // namespace latchkey::inline v1::detail::redis
