// The client of a ZooKeeper ensemble.
// SPDX-License-Identifier: BSL-1.0
#include "stores/zookeeper/client.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v1::detail::zookeeper {

ZooKeeperClient::ZooKeeperClient(const ZooKeeperUri& uri, const Options& options)
    : uri_(uri),
      timeout_(options.command_timeout),
      watches_(options.watch_holds),
      clock_(options.clock != nullptr ? *options.clock : Clock::system()),
      connection_(uri_, timeout_, *this, descriptors_),
      nodes_(connection_, uri_.folder),
      calls_(outbox_),
      queue_(nodes_, outbox_),
      administration_(nodes_, calls_),
      subscriptions_(nodes_, calls_, outbox_) {}

Capabilities ZooKeeperClient::capabilities() const noexcept {
  Capabilities offered;
  offered.reentrant = offered.fair = offered.read_write = offered.fenced = true;
  offered.pushes = offered.grants = offered.administration = offered.tokens = true;
  offered.in_order = offered.batches_checks = true;
  offered.watches = watches_;
  offered.lifetime = Capabilities::Lifetime::per_session;
  offered.max_lease = uri_.session;
  return offered;
}

stores::StoreClient::Start ZooKeeperClient::start_state() const noexcept {
  if (connection_.is_up()) return Start::up;
  const ConnectionFailure* const failure = connection_.policy().last_failure();
  return failure != nullptr && failure->is_certain() ? Start::failed : Start::connecting;
}

const ConnectionFailure* ZooKeeperClient::failure() const noexcept {
  return connection_.policy().last_failure();
}

void ZooKeeperClient::submit(std::span<Request* const> requests, Sink& sink) {
  const Clock::time_point now = clock_.now();
  const std::size_t before = pending_.size();
  try {
    for (Request* const request : requests) pending_.push_back({request, &sink, now});
  } catch (...) {
    pending_.resize(before);
    throw;
  }
}

// After a pause the connection may have ended unnoticed: `advance` looks first.
void ZooKeeperClient::send(Clock::time_point now) {
  queue_.recipe().set_now(now);
  connection_.want(now);
  if (!connection_.is_up() || now >= later(driven_at_, uri_.session / 8)) return;
  connection_.session().set_now(now);
  dispatch_pending();
  connection_.keep_session(!queue_.recipe().is_empty());
  connection_.rest(now);
}

void ZooKeeperClient::advance(Clock::time_point now) {
  driven_at_ = now;
  queue_.recipe().set_now(now);
  connection_.keep_session(!queue_.recipe().is_empty());
  connection_.advance(now);
  if (connection_.is_up()) {
    if (queue_.recipe().due() <= now || !pending_.empty()) {
      queue_.recipe().tick();
      dispatch_pending();
      connection_.rest(now);
    }
  } else {
    give_up_pending(now);
  }
}

Clock::time_point ZooKeeperClient::due() const noexcept {
  Clock::time_point due = connection_.due();
  if (connection_.is_up()) {
    if (!pending_.empty()) return driven_at_;
    return std::min(due, queue_.recipe().due());
  }
  for (const QueuedRequest& one : pending_) due = std::min(due, gives_up_at(one));
  return due;
}

// The watches of holds do not count: a thread that awaits nothing leads within moments, and then
// learns that a hold is gone.
bool ZooKeeperClient::awaits_events() const noexcept {
  return !connection_.is_up() || queue_.recipe().awaits_deletions() || !subscriptions_.is_empty();
}

void ZooKeeperClient::dispatch(Request& request, Sink& sink) {
  switch (request.verb) {
    case Verb::acquire:
    case Verb::renew:
    case Verb::verify:
    case Verb::downgrade:
    case Verb::release:
    case Verb::leave: return queue_.recipe().submit(request, sink);
    case Verb::subscribe:
    case Verb::unsubscribe: return subscribe(request, sink);
    case Verb::inspect: return administration_.inspect(calls_.begin(request, sink));
    case Verb::list: return administration_.list(calls_.begin(request, sink));
    case Verb::force_release: return administration_.force_release(calls_.begin(request, sink));
    case Verb::acquire_all:
    case Verb::expire:
    case Verb::resize:
    case Verb::revoke:
    case Verb::latch_set:
    case Verb::latch_down:
    case Verb::latch_count:
    case Verb::latch_delete: break;
  }
  outbox_.refuse(request, sink, "ZooKeeper offers no " + std::string(to_string(request.verb)));
}

// A waiter with an entry in the queue is notified because of that entry: nothing is subscribed to.
void ZooKeeperClient::subscribe(Request& request, Sink& sink) {
  const bool on = request.verb == Verb::subscribe;
  const bool about_one = request.type == LockType::FAIR && request.id.number != 0;
  if (about_one) queue_.recipe().listen(request.key, request.id, on);
  if (about_one || request.queues) return outbox_.complete(request, sink, Outcome::Kind::granted);
  const CallRef call = calls_.begin(request, sink);
  on ? subscriptions_.subscribe(call) : subscriptions_.unsubscribe(call);
}

void ZooKeeperClient::dispatch_pending() {
  while (!pending_.empty() && connection_.is_up()) {
    const QueuedRequest one = pending_.front();
    pending_.pop_front();
    dispatch(*one.request, *one.sink);
  }
}

Clock::time_point ZooKeeperClient::gives_up_at(const QueuedRequest& pending) const noexcept {
  return std::min(connection_.policy().gives_up_at(pending.submitted),
                  later(pending.submitted, timeout_));
}

void ZooKeeperClient::give_up_pending(Clock::time_point now) {
  const ConnectionFailure* const rejection = connection_.rejection();
  std::erase_if(pending_, [&](const QueuedRequest& one) {
    if (rejection != nullptr) {
      outbox_.refuse(*one.request, *one.sink, rejection->text);
      return true;
    }
    if (now < gives_up_at(one)) return false;
    const ConnectionFailure* const failure = connection_.policy().last_failure();
    outbox_.complete_unknown(*one.request, *one.sink,
                             failure != nullptr ? failure->text : "no answer", true);
    return true;
  });
}

void ZooKeeperClient::on_link_lost(const std::string& why) {
  queue_.recipe().link_lost(why);
  calls_.link_lost(why);
  outbox_.link(false, why);
}

void ZooKeeperClient::on_session_lost() { queue_.recipe().session_lost(); }

void ZooKeeperClient::on_link_up(bool resumed) {
  outbox_.link(true, "connected");
  queue_.recipe().restore_timers();
  if (resumed) queue_.recipe().link_resumed();
  subscriptions_.on_link_up();
}

void ZooKeeperClient::on_down(const std::string& why) { outbox_.link(false, why); }

void ZooKeeperClient::on_node_event(std::string_view path, NodeEvent event) {
  queue_.on_node_event(path, event);
  subscriptions_.on_node_event(path);
}

// The session stays, with all that it holds: the next connection continues it.
void ZooKeeperClient::start_over(Clock::time_point now) noexcept {
  connection_.start_over(now);
  queue_.recipe().start_over();
  calls_.forget();
  subscriptions_.start_over();
  pending_.clear();
}

void ZooKeeperClient::abandon() noexcept {
  connection_.abandon();
  queue_.recipe().forget();
  calls_.forget();
  subscriptions_.forget();
  pending_.clear();
}

}  // namespace latchkey::inline v1::detail::zookeeper
