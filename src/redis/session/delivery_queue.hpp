// The results of a session, and those that sinks have not received yet.
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
#include "redis/session/ring_queue.hpp"
#include "redis/session/slots.hpp"

namespace latchkey::inline v1::detail::redis {

/// One result of a session. The caller reuses one object, so that its strings keep their memory.
struct Delivery {
  enum class Type : std::uint8_t {
    sink_event,  ///< the outcome of `request` or, if that is null, a notification
    redirect,    ///< see `redirect`; `request` is null if the command was the session's own
    slot_map,    ///< see `slots`
  };

  Type type = Type::sink_event;
  Sink* sink = nullptr;
  Request* request = nullptr;
  Outcome outcome{};
  Notification::Kind kind = Notification::Kind::released;
  std::string key{};
  HoldId id{};
  std::uint64_t place = 0, token = 0;  ///< granted
  std::string server{}, text{};        ///< link_down and link_up

  // redirect
  Redirect redirect{};
  Clock::time_point deadline{};
  std::uint8_t hops = 0;
  bool overtaken = false;  ///< the hold's release is queued, so the acquire must not run any more
  // slot_map
  SlotMap slots{};

  /// Calls the sink.
  void hand_over() noexcept;
};

/// A request that has not been sent and moves from one session to another.
struct QueuedRequest {
  Request* request;
  Sink* sink;
  Clock::time_point deadline;
  std::uint8_t hops;  ///< how many nodes have redirected it
};

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

  /// Reports to all sinks that a key, or if it is empty perhaps each of them, has changed or is
  /// wanted. Throws std::bad_alloc.
  void notify_all_of(Notification::Kind kind, std::string_view key);

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
