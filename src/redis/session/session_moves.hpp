// What one link of a cluster gives up to others: requests and channels.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "redis/session/session.hpp"

namespace latchkey::detail::redis {

template <class Moves>
std::vector<QueuedRequest> Session::take_unsent(Moves&& moves) {
  std::vector<QueuedRequest> taken;
  if (stage_ == Stage::up) return taken;
  taken.reserve(pending_.size());
  for (std::size_t left = pending_.size(); left > 0; --left) {
    InFlightCommand& oldest = pending_[0];
    if (oldest.request != nullptr && moves(*oldest.request)) {
      taken.push_back({oldest.request, oldest.sink, oldest.deadline, oldest.hops});
      pending_.pop();
    } else {
      InFlightCommand kept = std::move(oldest);
      pending_.pop();
      if (kept.request != nullptr) pending_.push() = std::move(kept);
    }
  }
  written_ = first_live_ = 0;
  return taken;
}

template <class LinkOf>
void Session::move_channels(LinkOf&& link_of, TimePoint now) {
  std::vector<Subscriptions::Channel> channels = subscriptions_.extract([&](std::string_view name) {
    const Session* const owner = link_of(name);
    return owner != nullptr && owner != this;
  });
  leave(channels, now);
  for (Subscriptions::Channel& channel : channels) {
    link_of(channel.first)->take_in(std::move(channel), now);
  }
}

}  // namespace latchkey::detail::redis
