// The watches of this process in an etcd cluster, on one stream.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/watches.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace latchkey::inline v1::detail::etcd {
namespace {

/// After a stream that the server has ended while the connection stays.
constexpr std::chrono::seconds pause{1};

}  // namespace

Watches::Id Watches::start(Purpose purpose, std::string key, std::string end, std::int64_t revision,
                           OnReply on_reply) {
  const Id id = ++last_;
  watches_.emplace(id,
                   Watch{purpose, std::move(key), std::move(end), revision, std::move(on_reply)});
  if (purpose == Purpose::hold) ++of_holds_;
  if (stream_ != 0) {
    request_creation(id, purpose);
    create_next();
  } else if (link_.is_up() && opens_at_ == Clock::never()) {
    open();
  }
  return id;
}

// Without memory for the message the watch stays at etcd until the stream ends, and nobody hears
// it.
void Watches::cancel(Id id) noexcept {
  const Found found = watches_.find(id);
  if (found == watches_.end()) return;
  const std::optional<std::int64_t> served = found->second.served;
  erase(found);
  if (!served) return;
  served_.erase(*served);
  try {
    link_.send(stream_, encode_watch_end(*served));
  } catch (const std::bad_alloc&) {
    return;
  }
}

void Watches::open() {
  opens_at_ = unconfirmed_at_ = Clock::never();
  creating_ = 0;
  served_.clear();
  awaited_to_create_.clear();
  holds_to_create_.clear();
  for (const auto& [id, watch] : watches_) request_creation(id, watch.purpose);
  stream_ = link_.open_watches([this](std::string_view message) { on_message(message); },
                               [this](CallEnd&&) { on_stream_end(); });
  create_next();
}

void Watches::request_creation(Id id, Purpose purpose) {
  (purpose == Purpose::wait ? awaited_to_create_ : holds_to_create_).push_back(id);
}

// One after the other, as Go's client does: etcd chooses the id of a watch, and its answer does not
// say which request it is for.
void Watches::create_next() {
  while (creating_ == 0 && !(awaited_to_create_.empty() && holds_to_create_.empty())) {
    std::deque<Id>& first = awaited_to_create_.empty() ? holds_to_create_ : awaited_to_create_;
    const Found next = watches_.find(first.front());
    first.pop_front();
    if (next == watches_.end()) continue;  // it was cancelled
    const Watch& watch = next->second;
    creating_ = next->first;
    unconfirmed_at_ = later(clock_.now(), timeout_);
    link_.send(stream_, encode_watch(watch.key, watch.end, watch.revision));
  }
}

void Watches::on_message(std::string_view message) {
  const WatchReply reply = decode_watch(message);
  if (reply.created) return on_created(reply);
  const auto found = served_.find(reply.id);
  if (found == served_.end()) return;
  const Id id = found->second;
  if (reply.cancelled) served_.erase(found);
  report(id, reply);
}

// A watch that was cancelled before it was created ends now.
void Watches::on_created(const WatchReply& reply) {
  const Id id = std::exchange(creating_, 0);
  unconfirmed_at_ = Clock::never();
  const Found found = watches_.find(id);
  const bool wanted = found != watches_.end();
  if (!reply.cancelled && wanted) {
    served_.emplace(reply.id, id);
    found->second.served = reply.id;
  }
  if (!reply.cancelled && !wanted) link_.send(stream_, encode_watch_end(reply.id));
  create_next();
  if (!wanted) return;
  found->second.confirmed = true;
  found->second.revision = 0;  // on the next stream it begins anew
  report(id, reply);
}

// The reply may cancel its own watch.
void Watches::report(Id id, const WatchReply& reply) {
  const Found found = watches_.find(id);
  if (found == watches_.end()) return;
  const OnReply on_reply = found->second.on_reply;
  if (reply.cancelled) erase(found);
  on_reply(reply);
}

void Watches::erase(Found watch) noexcept {
  if (watch->second.purpose == Purpose::hold) --of_holds_;
  watches_.erase(watch);
}

void Watches::on_stream_end() {
  stream_ = 0;
  creating_ = 0;
  unconfirmed_at_ = Clock::never();
  served_.clear();
  opens_at_ = later(clock_.now(), pause);
  std::vector<Id> unconfirmed;
  for (auto& [id, watch] : watches_) {
    watch.served.reset();
    if (!watch.confirmed) unconfirmed.push_back(id);
  }
  WatchReply ended;
  ended.cancelled = true;
  for (const Id id : unconfirmed) report(id, ended);
}

void Watches::advance(Clock::time_point now) {
  if (unconfirmed_at_ <= now && link_.is_up()) {
    link_.cancel(stream_);
    on_stream_end();
  }
  if (opens_at_ > now || !link_.is_up()) return;
  opens_at_ = Clock::never();
  if (!watches_.empty()) open();
}

void Watches::on_link_up() {
  opens_at_ = Clock::never();
  if (!watches_.empty()) open();
}

void Watches::forget() noexcept {
  watches_.clear();
  of_holds_ = 0;
  served_.clear();
  stream_ = 0;
  creating_ = 0;
  opens_at_ = unconfirmed_at_ = Clock::never();
}

}  // namespace latchkey::inline v1::detail::etcd
