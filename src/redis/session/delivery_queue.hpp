// The queue of a session's deliveries to sinks: outcomes of requests, and notifications.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "redis/session/channel_subscriptions.hpp"
#include "redis/session/delivery.hpp"
#include "redis/session/ring_queue.hpp"

namespace latchkey::inline v1::detail::redis {

/// Queues what sinks will be called with, because a session calls no sink itself. Notifications are
/// delivered before outcomes. One thread at a time.
class DeliveryQueue {
 public:
  /// The end of a request that no reply of its own decides.
  struct Completion {
    Request* request;
    Sink* sink;
    Outcome::Kind kind;
    std::uint64_t token = 0;
    bool never_ran = false;
  };

  /// `server` names the node of a cluster in link_down and link_up; empty: there is one server.
  explicit DeliveryQueue(std::string server) : server_(std::move(server)) {}

  /// The next `completions` calls of `complete` need no memory. Throws std::bad_alloc.
  void reserve(std::size_t completions) { completions_.reserve(completions); }
  /// From now on the sink receives what `notify_all` says. Idempotent. Throws std::bad_alloc.
  void add_sink(Sink& sink);

  void complete(const Completion& completion, std::string_view text) noexcept;
  void notify_all(Notification::Kind kind, std::string_view text = {}) noexcept;
  /// Reports a release, or a grant that `message` describes, to the listeners of a channel. Throws
  /// std::bad_alloc.
  void notify(const std::vector<ChannelSubscriptions::Listener>& listeners,
              std::string_view message);

  /// Moves the next entry into `delivery`. False: the queue is empty.
  [[nodiscard]] bool next(Delivery& delivery) noexcept;
  [[nodiscard]] bool empty() const noexcept {
    return completions_.empty() && notifications_.empty();
  }

  [[nodiscard]] const std::vector<Sink*>& sinks() const noexcept { return sinks_; }
  [[nodiscard]] const std::string& server() const noexcept { return server_; }

  /// Drops all entries and all sinks.
  void clear() noexcept;

 private:
  struct QueuedCompletion {
    Completion completion;
    std::string text;
  };
  struct QueuedNotification {
    Sink* sink;
    Notification::Kind kind;
    std::string key;
    HoldId id;
    std::uint64_t place = 0, token = 0;  ///< granted
    std::string text;                    ///< link_down and link_up: why
  };

  void take_notification(Delivery& delivery) noexcept;
  void take_completion(Delivery& delivery) noexcept;

  const std::string server_;
  std::vector<Sink*> sinks_;  ///< all that ever submitted: usually one
  RingQueue<QueuedCompletion> completions_;
  RingQueue<QueuedNotification> notifications_;
};

}  // namespace latchkey::inline v1::detail::redis
