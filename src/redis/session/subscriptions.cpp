// Who listens to which channel.
#include "redis/session/subscriptions.hpp"

#include <algorithm>
#include <new>

#include "redis/protocol/names.hpp"

namespace latchkey::detail::redis {
namespace {

HoldId told(const Request& request) {
  return request.type == LockType::FAIR ? request.id : HoldId{};
}

}  // namespace

void Subscriptions::add(const Request& request, Sink& sink) {
  const Listener listener{&sink, std::string(request.key), told(request)};
  const Channels channels = channels_of(request.key, request.type, request.id);
  try {
    for (const std::string& channel : channels.names) {
      std::vector<Listener>& all = channels_[channel];
      if (std::ranges::find(all, listener) == all.end()) all.push_back(listener);
    }
  } catch (const std::bad_alloc&) {
    remove(request, sink);
    std::erase_if(channels_, [](const auto& channel) { return channel.second.empty(); });
    throw;
  }
}

void Subscriptions::add(Channel channel) {
  std::vector<Listener>& all = channels_[channel.first];
  for (Listener& each : channel.second) {
    if (std::ranges::find(all, each) == all.end()) all.push_back(std::move(each));
  }
}

std::string_view Subscriptions::word(Verb verb) const noexcept {
  if (verb == Verb::subscribe) return sharded_ ? "SSUBSCRIBE" : "SUBSCRIBE";
  return sharded_ ? "SUNSUBSCRIBE" : "UNSUBSCRIBE";
}

void Subscriptions::remove(const Request& request, Sink& sink) noexcept {
  const auto without_it = [&](std::vector<Listener>& listeners) {
    std::erase_if(listeners, [&](const Listener& each) {
      return each.sink == &sink && each.key == request.key && each.id == told(request);
    });
    return listeners.empty();
  };
  try {
    for (const std::string& channel : channels_of(request.key, request.type, request.id).names) {
      const auto found = channels_.find(channel);
      if (found != channels_.end() && without_it(found->second)) channels_.erase(found);
    }
  } catch (const std::bad_alloc&) {
    // Without memory for their names they are found by a look at all.
    for (auto at = channels_.begin(); at != channels_.end();) {
      at = without_it(at->second) ? channels_.erase(at) : std::next(at);
    }
  }
}

const std::vector<Subscriptions::Listener>* Subscriptions::listeners(
    std::string_view channel) const {
  const auto found = channels_.find(channel);
  return found != channels_.end() ? &found->second : nullptr;
}

void Subscriptions::append_change(CommandBuffer& buffer, const Request& request) const {
  const bool joins = request.verb == Verb::subscribe;
  const auto names = channels_of(request.key, request.type, request.id).names;
  const auto concerned = [&](const std::string& channel) {
    return joins || !channels_.contains(channel);
  };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(names, concerned));
  if (count > 0) {
    buffer.begin(1 + count);
    buffer.word(word(request.verb));
    for (const std::string& channel : names) {
      if (concerned(channel)) buffer.word(channel);
    }
  }
  buffer.command({"PING"});
}

bool Subscriptions::append_all(CommandBuffer& buffer) const {
  if (channels_.empty()) return false;
  buffer.begin(1 + channels_.size());
  buffer.word(word(Verb::subscribe));
  for (const auto& [channel, listeners] : channels_) buffer.word(channel);
  buffer.command({"PING"});
  return true;
}

void Subscriptions::append_this(CommandBuffer& buffer, Verb verb, std::string_view channel) const {
  buffer.begin(2);
  buffer.word(word(verb));
  buffer.word(channel);
  buffer.command({"PING"});
}

std::vector<std::string> Subscriptions::names() const {
  std::vector<std::string> all;
  all.reserve(channels_.size());
  for (const auto& [channel, listeners] : channels_) all.push_back(channel);
  return all;
}

}  // namespace latchkey::detail::redis
