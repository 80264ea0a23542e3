// Who is told that a lock may be free.
// SPDX-License-Identifier: BSL-1.0
#include "stores/zookeeper/subscriptions.hpp"

#include <algorithm>
#include <utility>

#include "stores/zookeeper/node_name.hpp"

namespace latchkey::inline v1::detail::zookeeper {

using Kind = Outcome::Kind;

Subscriptions::Subscriptions(Nodes& nodes, Calls& calls, stores::Outbox& outbox)
    : nodes_(nodes), calls_(calls), outbox_(outbox), name_(subscriber_name(HoldId::new_space())) {}

void Subscriptions::subscribe(const CallRef& call) {
  const std::string key(call->request->key);
  Subscribed& subscribed = keys_[key];
  if (std::ranges::find(subscribed.sinks, call->sink) == subscribed.sinks.end()) {
    subscribed.sinks.push_back(call->sink);
  }
  mark(key, call);
}

void Subscriptions::mark(const std::string& key, CallRef call) {
  nodes_.make(
      nodes_.path_of(key), name_, {}, Session::Mode::ephemeral, [this, key, call](Reply&& reply) {
        const auto refusal =
            reply.code == ZNODEEXISTS ? Refusal() : Nodes::refusal(reply.code, nodes_.path_of(key));
        if (!refusal.empty()) return refuse(key, call, refusal);
        const auto at = keys_.find(key);
        if (call && at == keys_.end()) return calls_.complete(call, Kind::granted);
        if (call) at->second.calls.push_back(call);
        read(key);
      });
}

void Subscriptions::unsubscribe(const CallRef& call) {
  const std::string key(call->request->key);
  const auto at = keys_.find(key);
  if (at != keys_.end()) std::erase(at->second.sinks, call->sink);
  if (at == keys_.end() || !at->second.sinks.empty()) return calls_.complete(call, Kind::granted);
  keys_.erase(at);
  nodes_.session().remove(nodes_.path_of(key) + '/' + name_,
                          [this, call](Reply&&) { calls_.complete(call, Kind::granted); });
}

void Subscriptions::read(const std::string& key) {
  const auto at = keys_.find(key);
  if (at == keys_.end() || std::exchange(at->second.reads, true)) return;
  nodes_.session().children(nodes_.path_of(key), false,
                            [this, key](Reply&& reply) { on_read(key, std::move(reply)); });
}

void Subscriptions::on_read(const std::string& key, Reply&& reply) {
  const auto at = keys_.find(key);
  if (at == keys_.end()) return;
  at->second.reads = false;
  const std::vector<Ticket> tickets = Nodes::tickets(reply.children);
  at->second.watched = tickets.empty() ? std::string() : tickets.front().name;
  watch(key, at->second.watched);
}

// Sets the watch. The reply also shows changes since the nodes were read.
void Subscriptions::watch(const std::string& key, const std::string& name) {
  const std::string lock = nodes_.path_of(key);
  if (!name.empty()) {
    return nodes_.session().exists(lock + '/' + name, true, [this, key, name](Reply&& reply) {
      const auto at = keys_.find(key);
      if (at == keys_.end() || at->second.watched != name) return;
      complete(at->second);
      if (reply.code != ZNONODE) return;
      notify(key);
      read(key);
    });
  }
  nodes_.session().children(lock, true, [this, key](Reply&& reply) {
    const auto at = keys_.find(key);
    if (at == keys_.end() || !at->second.watched.empty()) return;
    complete(at->second);
    if (!Nodes::tickets(reply.children).empty()) read(key);
  });
}

void Subscriptions::on_node_event(std::string_view path) {
  if (keys_.empty() || path.size() <= nodes_.folder().size()) return;
  if (const auto lock = keys_.find(nodes_.key_of(path)); lock != keys_.end()) {
    if (lock->second.watched.empty()) read(lock->first);
    return;
  }
  const std::size_t slash = path.rfind('/');
  if (slash <= nodes_.folder().size()) return;
  const auto at = keys_.find(nodes_.key_of(path.substr(0, slash)));
  if (at == keys_.end() || at->second.watched != path.substr(slash + 1)) return;
  notify(at->first);
  read(at->first);
}

void Subscriptions::complete(Subscribed& subscribed) {
  for (const CallRef& call : std::exchange(subscribed.calls, {})) {
    calls_.complete(call, Kind::granted);
  }
}

// No watch follows, so the calls that wait for one end, too.
void Subscriptions::refuse(const std::string& key, const CallRef& call, const Refusal& refusal) {
  if (const auto subscribed = keys_.extract(key)) {
    for (const CallRef& each : subscribed.mapped().calls) calls_.refuse(each, refusal);
  }
  if (call) calls_.refuse(call, refusal);
}

void Subscriptions::notify(const std::string& key) {
  for (Sink* const sink : keys_.at(key).sinks) {
    outbox_.notify(*sink, Notification::Kind::released, key);
  }
}

// A key without a sink is one for which memory was missing.
void Subscriptions::start_over() noexcept {
  for (auto& [key, subscribed] : keys_) subscribed.calls.clear();
  std::erase_if(keys_, [](const auto& each) { return each.second.sinks.empty(); });
}

void Subscriptions::on_link_up() {
  for (auto& [key, subscribed] : keys_) {
    subscribed.reads = false;
    subscribed.watched.clear();
    subscribed.calls.clear();
    mark(key, nullptr);
  }
}

}  // namespace latchkey::inline v1::detail::zookeeper
