// The moves of requests and channels between the sessions of a cluster.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "redis/session/session.hpp"

namespace latchkey::inline v1::detail::redis {

template <class Moves>
std::vector<QueuedRequest> Session::take_unsent(Moves&& moves) {
  if (stage_ == Stage::up) return {};
  return pipeline_.take_unsent(moves);
}

template <class OwnerOf>
void Session::move_channels(OwnerOf&& owner_of, TimePoint now) {
  std::vector<ChannelSubscriptions::Channel> channels =
      subscriptions_.extract([&](std::string_view name) {
        const Session* const owner = owner_of(name);
        return owner != nullptr && owner != this;
      });
  for (const auto& [name, listeners] : channels) {
    // The handshake may have subscribed to it. Sharded channels are subscribed to after it.
    if (stage_ == Stage::handshake && !handshake_.sharded()) subscriptions_.retry(name, now);
    send_channel_change(Verb::unsubscribe, name, now);
  }
  for (ChannelSubscriptions::Channel& channel : channels) {
    owner_of(channel.first)->adopt_channel(std::move(channel), now);
  }
}

}  // namespace latchkey::inline v1::detail::redis
