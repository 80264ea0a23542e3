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

Watches::Id Watches::start(std::string key, std::string end, std::int64_t revision,
                           OnReply on_reply) {
  const Id id = ++last_;
  watches_.emplace(id, Watch{std::move(key), std::move(end), revision, std::move(on_reply)});
  if (stream_ != 0) {
    create_next();
  } else if (link_.is_up() && opens_at_ == Clock::never()) {
    open();
  }
  return id;
}

// Without memory for the message the watch stays at etcd until the stream ends, and nobody hears
// it.
void Watches::cancel(Id id) noexcept {
  if (watches_.erase(id) == 0) return;
  const auto found =
      std::ranges::find_if(served_, [id](const auto& one) { return one.second == id; });
  if (found == served_.end()) return;
  const std::int64_t its = found->first;
  served_.erase(found);
  try {
    link_.send(stream_, encode_watch_end(its));
  } catch (const std::bad_alloc&) {
    return;
  }
}

void Watches::open() {
  opens_at_ = unconfirmed_at_ = Clock::never();
  creating_ = 0;
  served_.clear();
  for (auto& [id, watch] : watches_) watch.waits = true;
  stream_ = link_.open_watches([this](std::string_view message) { on_message(message); },
                               [this](CallEnd&&) { on_stream_end(); });
  create_next();
}

// One after the other, as Go's client does: etcd chooses the id of a watch, and its answer does not
// say which request it is for.
void Watches::create_next() {
  if (creating_ != 0) return;
  const auto next =
      std::ranges::find_if(watches_, [](const auto& one) { return one.second.waits; });
  if (next == watches_.end()) return;
  Watch& watch = next->second;
  creating_ = next->first;
  unconfirmed_at_ = later(clock_.now(), timeout_);
  watch.waits = false;
  link_.send(stream_, encode_watch(watch.key, watch.end, watch.revision));
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
  const auto found = watches_.find(id);
  const bool wanted = found != watches_.end();
  if (!reply.cancelled && wanted) served_.emplace(reply.id, id);
  if (!reply.cancelled && !wanted) link_.send(stream_, encode_watch_end(reply.id));
  create_next();
  if (!wanted) return;
  found->second.confirmed = true;
  found->second.revision = 0;  // on the next stream it begins anew
  report(id, reply);
}

// The reply may cancel its own watch.
void Watches::report(Id id, const WatchReply& reply) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) return;
  const OnReply on_reply = found->second.on_reply;
  if (reply.cancelled) watches_.erase(found);
  on_reply(reply);
}

void Watches::on_stream_end() {
  stream_ = 0;
  creating_ = 0;
  unconfirmed_at_ = Clock::never();
  served_.clear();
  opens_at_ = later(clock_.now(), pause);
  std::vector<Id> unconfirmed;
  for (const auto& [id, watch] : watches_) {
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
  if (any()) open();
}

void Watches::on_link_up() {
  opens_at_ = Clock::never();
  if (any()) open();
}

void Watches::forget() noexcept {
  watches_.clear();
  served_.clear();
  stream_ = 0;
  creating_ = 0;
  opens_at_ = unconfirmed_at_ = Clock::never();
}

}  // namespace latchkey::inline v1::detail::etcd
