// Who is told that a lock may be free.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stores/zookeeper/calls.hpp"
#include "stores/zookeeper/nodes.hpp"

namespace latchkey::inline v1::detail::zookeeper {

/// The subscriptions to keys. Each has a node of its own below the lock, so that other processes
/// can count the subscribers, and watches the first entry of the lock's queue, or the lock's folder
/// if there is none. Waiters that have an entry in the queue need no subscription.
class Subscriptions {
 public:
  Subscriptions(Nodes& nodes, Calls& calls, stores::Outbox& outbox);

  void subscribe(const CallRef& call);
  void unsubscribe(const CallRef& call);
  void on_node_event(std::string_view path);
  /// Subscribes again to everything.
  void on_link_up();
  [[nodiscard]] bool is_empty() const noexcept { return keys_.empty(); }
  /// Every call is forgotten.
  void start_over() noexcept;
  void forget() noexcept { keys_.clear(); }

 private:
  struct Subscribed {
    std::vector<Sink*> sinks;
    std::string watched;         ///< the name of the first entry; empty: the folder
    bool reads = false;          ///< the entries are being read
    std::vector<CallRef> calls;  ///< they are completed when the watch is set
  };

  void mark(const std::string& key, CallRef call);
  void read(const std::string& key);
  void on_read(const std::string& key, Reply&& reply);
  void watch(const std::string& key, const std::string& name);
  /// The watch is set.
  void complete(Subscribed& subscribed);
  /// The key is no longer subscribed to. `call`: may be null.
  void refuse(const std::string& key, const CallRef& call, const Refusal& refusal);
  void notify(const std::string& key);

  Nodes& nodes_;
  Calls& calls_;
  stores::Outbox& outbox_;
  const std::string name_;  ///< the name of this connection's node below each lock
  std::unordered_map<std::string, Subscribed> keys_;
};

}  // namespace latchkey::inline v1::detail::zookeeper
