// The client of an etcd cluster.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/client.hpp"

#include <algorithm>
#include <utility>

namespace latchkey::inline v1::detail::etcd {

EtcdClient::EtcdClient(const EtcdUri& uri, const Options& options)
    : description_(uri.describe()),
      session_(uri.session),
      clock_(options.clock != nullptr ? *options.clock : Clock::system()),
      link_(uri, descriptors_, clock_, options.command_timeout, [this](bool up) { on_link(up); }),
      sessions_(link_, clock_, uri.session, [this](Session& lost) { on_session_lost(lost); }),
      watches_(link_, clock_, options.command_timeout),
      context_{link_, sessions_, watches_, outbox_, clock_, uri.prefix, options.watch_holds},
      administration_(context_),
      parked_(link_) {}

Capabilities EtcdClient::capabilities() const noexcept {
  Capabilities offered;
  offered.fair = offered.read_write = offered.fenced = offered.tokens = true;
  offered.pushes = offered.grants = true;
  offered.administration = true;
  offered.watches = context_.watches_holds;
  offered.lifetime = Capabilities::Lifetime::per_session;
  offered.max_lease = session_;
  return offered;
}

void EtcdClient::send(Clock::time_point /*now*/) {
  link_.want();
  if (!link_.is_up()) return;
  dispatch_parked();
  link_.flush();
  drop_idle();
}

void EtcdClient::dispatch_parked() {
  parked_.dispatch_all([this](Request& request, Sink& sink) { dispatch(request, sink); });
}

void EtcdClient::dispatch(Request& request, Sink& sink) {
  if (Administration::serves(request.verb)) return administration_.submit(request, sink);
  std::string name(request.key);
  auto found = queues_.find(name);
  if (found == queues_.end()) {
    // Made first: without memory for it there must be no entry.
    auto made = std::make_unique<LockQueue>(context_, name);
    found = queues_.emplace(std::move(name), std::move(made)).first;
  }
  found->second->submit(request, sink);
}

void EtcdClient::advance(Clock::time_point now) {
  link_.advance(now);
  now = clock_.now();
  sessions_.advance(now);
  watches_.advance(now);
  expire_places(now);
  parked_.give_up(outbox_, now);
  if (link_.is_up()) link_.flush();
  drop_idle();
}

void EtcdClient::expire_places(Clock::time_point now) {
  ExpiryTimers& timers = context_.timers;
  while (!timers.empty() && timers.begin()->first <= now) {
    const Expiry expiry = timers.begin()->second;
    timers.erase(timers.begin());
    expiry.queue->on_expired(expiry.id);
  }
}

void EtcdClient::on_link(bool up) {
  if (up) {
    for (auto& [name, queue] : queues_) queue->restore_timers();
    sessions_.on_link_up();
    watches_.on_link_up();
  }
  for (auto& [name, queue] : queues_) queue->on_link(up);
  const ConnectionFailure* const failure = link_.failure();
  outbox_.link(up, failure == nullptr ? std::string() : failure->text);
  if (up) dispatch_parked();
}

void EtcdClient::on_session_lost(const Session& session) {
  for (auto& [name, queue] : queues_) queue->on_session_lost(session);
}

void EtcdClient::drop_idle() {
  for (const std::string& name : std::exchange(context_.idle, {})) {
    const auto found = queues_.find(name);
    if (found != queues_.end() && found->second->idle()) queues_.erase(found);
  }
}

Clock::time_point EtcdClient::due() const noexcept {
  Clock::time_point first = std::min({link_.due(), sessions_.due(), watches_.due()});
  if (!context_.timers.empty()) first = std::min(first, context_.timers.begin()->first);
  return std::min(first, parked_.due());
}

// The sessions and their keys stay at etcd, and the places are looked at when the link is up again.
void EtcdClient::start_over(Clock::time_point now) noexcept {
  link_.start_over(now);
  sessions_.start_over();
  watches_.forget();
  for (auto& [name, queue] : queues_) queue->start_over(now);
  context_.idle.clear();
  std::erase_if(queues_, [](const auto& each) { return each.second->idle(); });
  parked_.clear();
}

void EtcdClient::abandon() noexcept {
  link_.abandon();
  watches_.forget();
  for (auto& [name, queue] : queues_) queue->forget();
  queues_.clear();
  parked_.clear();
  context_.timers.clear();
  context_.idle.clear();
  sessions_.forget();
}

}  // namespace latchkey::inline v1::detail::etcd
