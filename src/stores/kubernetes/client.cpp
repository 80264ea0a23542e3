// The client of the Leases in a namespace of Kubernetes.
// SPDX-License-Identifier: BSL-1.0
#include "stores/kubernetes/client.hpp"

#include <algorithm>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>
#include "stores/kubernetes/lease_name.hpp"

namespace latchkey::inline v1::detail::kubernetes {
namespace {

/// A number of seconds is an int32; a day is more than any election needs.
constexpr std::chrono::seconds shortest_lease{1}, longest_lease{86'400};

}  // namespace

KubernetesClient::KubernetesClient(const KubernetesUri& uri, const Options& options)
    : description_(uri.describe()),
      watches_holds_(options.watch_holds),
      clock_(options.clock != nullptr ? *options.clock : Clock::system()),
      link_(uri, descriptors_, clock_, options.command_timeout, [this](bool up) { on_link(up); }),
      watch_(link_, clock_,
             {[this](const WatchEvent& event) { on_event(event); }, [this] { on_watch_open(); },
              [this](const std::string& why) { on_watch_denied(why); }}),
      context_{link_, observed_, watch_, outbox_, clock_, options.command_timeout},
      listing_(context_),
      parked_(link_) {}

Capabilities KubernetesClient::capabilities() const noexcept {
  Capabilities offered;
  offered.fenced = offered.pushes = offered.administration = true;
  offered.watches = watches_holds_;
  offered.min_lease = shortest_lease;
  offered.max_lease = longest_lease;
  return offered;
}

void KubernetesClient::send(Clock::time_point /*now*/) {
  link_.want();
  if (!link_.is_up()) return;
  dispatch_parked();
  link_.flush();
  drop_idle();
}

void KubernetesClient::dispatch_parked() {
  parked_.dispatch_all([this](Request& request, Sink& sink) { dispatch(request, sink); });
}

void KubernetesClient::dispatch(Request& request, Sink& sink) {
  if (request.verb == Verb::list) return listing_.submit(request, sink);
  std::string name = lease_name_of(request.key);
  if (name.size() > longest_name) {
    return outbox_.refuse(request, sink,
                          "the Lease of the key would have the name " + in_quotes(name) + ", of " +
                              std::to_string(name.size()) + " characters; at most " +
                              std::to_string(longest_name) + " are possible");
  }
  if (request.verb == Verb::subscribe) return subscribe(request, sink);
  if (request.verb == Verb::unsubscribe) return unsubscribe(request, sink);
  auto found = queues_.find(name);
  if (found == queues_.end()) {
    auto made = std::make_unique<LeaseQueue>(context_, std::string(request.key), name);
    found = queues_.emplace(std::move(name), std::move(made)).first;
  }
  found->second->submit(request, sink);
}

void KubernetesClient::subscribe(Request& request, Sink& sink) {
  std::vector<Sink*>& sinks = subscribers_[lease_name_of(request.key)];
  if (std::ranges::find(sinks, &sink) == sinks.end()) sinks.push_back(&sink);
  subscribing_.push_back({&request, &sink, clock_.now()});
  answer_subscribers();
}

// Where the API server forbids the watch, a waiter polls: `retry_after` of a busy Lease says so.
void KubernetesClient::answer_subscribers() {
  if (!watch_.is_open() && watch_.state() != LeaseWatch::State::denied) return;
  for (const http2::ParkedRequest& one : std::exchange(subscribing_, {})) {
    outbox_.complete(*one.request, *one.sink, Outcome::Kind::granted);
  }
}

void KubernetesClient::unsubscribe(Request& request, Sink& sink) {
  const auto found = subscribers_.find(lease_name_of(request.key));
  if (found != subscribers_.end()) {
    std::erase(found->second, &sink);
    if (found->second.empty()) subscribers_.erase(found);
  }
  outbox_.complete(request, sink, Outcome::Kind::granted);
}

void KubernetesClient::on_event(const WatchEvent& event) {
  const std::string& name = event.lease.name;
  if (event.kind == WatchEvent::Kind::deleted) {
    observed_.forget(name);
  } else {
    observed_.hear(event.lease, clock_.now());
  }
  if (const auto queue = queues_.find(name); queue != queues_.end()) {
    queue->second->on_event(event);
  }
  const bool is_free = event.kind == WatchEvent::Kind::deleted || event.lease.record.holder.empty();
  const auto found = subscribers_.find(name);
  if (!is_free || found == subscribers_.end()) return;
  const auto key = key_of(name);
  if (!key) return;
  for (Sink* const sink : found->second) {
    outbox_.notify(*sink, Notification::Kind::released, *key);
  }
}

// A deletion between two watches is in neither of them: those who wait or hold look again.
void KubernetesClient::on_watch_open() {
  if (!std::exchange(warning_, {}).empty()) outbox_.warn();
  for (auto& [name, queue] : queues_) queue->on_watch_begins();
  for (const auto& [name, sinks] : subscribers_) {
    const auto key = key_of(name);
    for (Sink* const sink : sinks) outbox_.notify(*sink, Notification::Kind::released, *key);
  }
  answer_subscribers();
}

void KubernetesClient::on_watch_denied(const std::string& why) {
  const std::string text = "its waiters ask every 2 s, and are not told of a release: " + why;
  if (text != warning_) {
    warning_ = text;
    outbox_.warn();
  }
  answer_subscribers();
}

void KubernetesClient::advance(Clock::time_point now) {
  link_.advance(now);
  now = clock_.now();
  watch_.advance(now);
  for (auto& [name, queue] : queues_) queue->advance(now);
  parked_.give_up(outbox_, now);
  if (link_.is_up()) link_.flush();
  drop_idle();
}

void KubernetesClient::on_link(bool up) {
  if (up) {
    watch_.on_link_up();
  } else {
    watch_.forget();
    for (const http2::ParkedRequest& one : std::exchange(subscribing_, {})) {
      outbox_.complete_unknown(*one.request, *one.sink, "the connection broke", true);
    }
  }
  const ConnectionFailure* const failure = link_.failure();
  outbox_.link(up, failure == nullptr ? std::string() : failure->text);
  if (up) dispatch_parked();
}

void KubernetesClient::drop_idle() {
  std::erase_if(queues_, [](const auto& each) { return each.second->idle(); });
}

Clock::time_point KubernetesClient::due() const noexcept {
  Clock::time_point first = std::min(link_.due(), watch_.due());
  for (const auto& [name, queue] : queues_) first = std::min(first, queue->due());
  return std::min(first, parked_.due());
}

void KubernetesClient::start_over(Clock::time_point now) noexcept {
  link_.start_over(now);
  watch_.forget();
  for (auto& [name, queue] : queues_) queue->start_over();
  subscribing_.clear();
  parked_.clear();
}

void KubernetesClient::abandon() noexcept {
  link_.abandon();
  watch_.forget();
  queues_.clear();
  subscribers_.clear();
  subscribing_.clear();
  parked_.clear();
}

}  // namespace latchkey::inline v1::detail::kubernetes
