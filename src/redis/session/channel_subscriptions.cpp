// Who listens to which channel.
// SPDX-License-Identifier: BSL-1.0
#include "redis/session/channel_subscriptions.hpp"

#include <algorithm>
#include <new>

#include "redis/protocol/names.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

/// The waiter that a notification is for: a FAIR lock notifies one waiter, all others every one. A
/// grant is for the process, and its message names the waiter.
HoldId listener_id(const Request& request) {
  return request.type == LockType::FAIR || request.queues ? request.id : HoldId{};
}

/// Whether both requests of one sink are about the same listener.
bool have_one_listener(const Request& one, const Request& other) {
  return one.key == other.key && listener_id(one) == listener_id(other) &&
         one.queues == other.queues && one.latch == other.latch &&
         one.revocations == other.revocations;
}

}  // namespace

void ChannelSubscriptions::add(const Request& request, Sink& sink) {
  const Listener listener{
      &sink,         std::string(request.key), listener_id(request), request.queues,
      request.latch, request.revocations};
  const Channels channels = channels_of(request, layout_);
  try {
    for (const std::string& channel : channels.all()) {
      std::vector<Listener>& all = channels_[channel];
      if (std::ranges::find(all, listener) == all.end()) all.push_back(listener);
    }
  } catch (const std::bad_alloc&) {
    remove(request, sink);
    std::erase_if(channels_, [](const auto& channel) { return channel.second.empty(); });
    throw;
  }
}

void ChannelSubscriptions::add_all(std::span<Request* const> requests, Sink& sink) {
  for (std::size_t index = 0; index < requests.size(); ++index) {
    if (requests[index]->verb != Verb::subscribe) continue;
    try {
      add(*requests[index], sink);
    } catch (const std::bad_alloc&) {
      for (const Request* const added : requests.first(index)) {
        if (added->verb == Verb::subscribe) remove(*added, sink);
      }
      throw;
    }
  }
}

void ChannelSubscriptions::add(Channel channel) {
  std::vector<Listener>& all = channels_[channel.first];
  for (Listener& each : channel.second) {
    if (std::ranges::find(all, each) == all.end()) all.push_back(std::move(each));
  }
}

std::string_view ChannelSubscriptions::command_for(Verb verb) const noexcept {
  if (verb == Verb::subscribe) return sharded_ ? "SSUBSCRIBE" : "SUBSCRIBE";
  return sharded_ ? "SUNSUBSCRIBE" : "UNSUBSCRIBE";
}

void ChannelSubscriptions::remove_all(std::span<Request* const> requests, Sink& sink) noexcept {
  const auto is_subscribe = [](const Request* each) { return each->verb == Verb::subscribe; };
  auto left = std::ranges::count_if(requests, is_subscribe);
  for (std::size_t index = 0; index < requests.size(); ++index) {
    const Request& request = *requests[index];
    if (is_subscribe(&request)) --left;
    if (request.verb != Verb::unsubscribe) continue;
    remove(request, sink, left > 0 ? requests.subspan(index + 1) : std::span<Request* const>());
  }
}

// Whether one of the later requests lets the listener of `by` listen to the channel.
bool ChannelSubscriptions::is_wanted(const std::string& channel, const Request& by,
                                     std::span<Request* const> later) const {
  return std::ranges::any_of(later, [&](const Request* each) {
    if (each->verb != Verb::subscribe || !have_one_listener(*each, by)) return false;
    const Channels channels = channels_of(*each, layout_);
    return std::ranges::find(channels.all(), channel) != channels.all().end();
  });
}

void ChannelSubscriptions::remove(const Request& request, Sink& sink,
                                  std::span<Request* const> later) noexcept {
  const auto drop_from = [&](std::vector<Listener>& listeners) {
    std::erase_if(listeners, [&](const Listener& each) {
      return each.sink == &sink && each.key == request.key && each.id == listener_id(request) &&
             each.grants == request.queues && each.latch == request.latch &&
             each.revocations == request.revocations;
    });
    return listeners.empty();
  };
  try {
    const Channels channels = channels_of(request, layout_);
    for (const std::string& channel : channels.all()) {
      const auto found = channels_.find(channel);
      if (found == channels_.end() || is_wanted(channel, request, later)) continue;
      if (drop_from(found->second)) channels_.erase(found);
    }
  } catch (const std::bad_alloc&) {
    const bool comes_back = std::ranges::any_of(later, [&](const Request* each) {
      return each->verb == Verb::subscribe && have_one_listener(*each, request);
    });
    if (comes_back) return;
    // There is no memory for the names of the channels: all channels are searched.
    for (auto at = channels_.begin(); at != channels_.end();) {
      at = drop_from(at->second) ? channels_.erase(at) : std::next(at);
    }
  }
}

const std::vector<ChannelSubscriptions::Listener>* ChannelSubscriptions::listeners(
    std::string_view channel) const {
  const auto found = channels_.find(channel);
  return found != channels_.end() ? &found->second : nullptr;
}

bool ChannelSubscriptions::append_change(CommandBuffer& buffer, Verb verb,
                                         const Channels& channels) const {
  const bool subscribes = verb == Verb::subscribe;
  const std::span<const std::string> names = channels.all();
  const auto changes = [&](const std::string& channel) {
    return subscribes || !channels_.contains(channel);
  };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(names, changes));
  if (count > 0) {
    buffer.begin(1 + count);
    buffer.word(command_for(verb));
    for (const std::string& channel : names) {
      if (changes(channel)) buffer.word(channel);
    }
  }
  buffer.command({"PING"});
  return count > 0;
}

bool ChannelSubscriptions::append_all(CommandBuffer& buffer) const {
  if (channels_.empty()) return false;
  buffer.begin(1 + channels_.size());
  buffer.word("SUBSCRIBE");
  for (const auto& [channel, listeners] : channels_) buffer.word(channel);
  buffer.command({"PING"});
  return true;
}

void ChannelSubscriptions::append_one(CommandBuffer& buffer, Verb verb,
                                      std::string_view channel) const {
  buffer.begin(2);
  buffer.word(command_for(verb));
  buffer.word(channel);
  buffer.command({"PING"});
}

std::vector<std::string> ChannelSubscriptions::names() const {
  std::vector<std::string> all;
  all.reserve(channels_.size());
  for (const auto& [channel, listeners] : channels_) all.push_back(channel);
  return all;
}

void ChannelSubscriptions::clear() noexcept {
  channels_.clear();
  retries_.clear();
}

// A user may be forbidden to unsubscribe. Unwanted subscriptions beyond the limit then stay until
// the connection ends.
void ChannelSubscriptions::retry(const std::string& channel, TimePoint at) {
  constexpr std::size_t most_unwanted = 1'000;
  if (retries_.size() >= most_unwanted && !channels_.contains(channel)) return;
  if (std::ranges::find(retries_, channel) == retries_.end()) retries_.push_back(channel);
  retries_at_ = at;
}

ChannelSubscriptions::TimePoint ChannelSubscriptions::retries_at() const noexcept {
  return retries_.empty() ? Clock::never() : retries_at_;
}

}  // namespace latchkey::inline v1::detail::redis
