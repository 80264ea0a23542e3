// Who listens to which channel.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "redis/protocol/command_buffer.hpp"
#include "redis/protocol/layout.hpp"
#include "redis/protocol/names.hpp"

namespace latchkey::inline v1::detail::redis {

/// The subscriptions that are wanted, whether the server knows of them yet or not. A channel may
/// serve several keys, and a key listens to several channels (names.hpp). One thread at a time.
///
/// A sharded channel is known to one node of a cluster only, the one that serves its slot, and one
/// SSUBSCRIBE covers one slot.
class ChannelSubscriptions {
 public:
  using TimePoint = Clock::time_point;
  struct Listener {
    Sink* sink;
    std::string key;
    HoldId id;  ///< FAIR: the waiter that the channel belongs to; grants: its process; or none
    bool grants = false;       ///< the channel's messages are grants to waiters of one process
    bool latch = false;        ///< the channel is that of a latch
    bool revocations = false;  ///< the channel's messages ask to release the key

    friend bool operator==(const Listener&, const Listener&) = default;
  };
  using Channel = std::pair<std::string, std::vector<Listener>>;

  explicit ChannelSubscriptions(const Layout& layout = redisson_layout) noexcept
      : layout_(layout) {}

  /// `sharded`: its commands are SSUBSCRIBE and SUNSUBSCRIBE from now on.
  void use_sharded_channels(bool sharded) noexcept { sharded_ = sharded; }

  // --- listeners ---
  /// Idempotent. Throws std::bad_alloc.
  void add(const Request& request, Sink& sink);
  /// Adds every subscribe among the requests or, if it throws std::bad_alloc, none.
  void add_all(std::span<Request* const> requests, Sink& sink);
  /// Adds the listeners of a channel that another session had. Throws std::bad_alloc.
  void add(Channel channel);
  void remove(const Request& request, Sink& sink) noexcept { remove(request, sink, {}); }
  /// Removes what every unsubscribe among the requests ends. What a later subscribe among them
  /// listens to stays.
  void remove_all(std::span<Request* const> requests, Sink& sink) noexcept;
  void clear() noexcept;

  /// Takes out the channels for which `moves(name)` holds.
  template <class Moves>
  [[nodiscard]] std::vector<Channel> extract(Moves&& moves) {
    std::vector<Channel> all;
    for (auto at = channels_.begin(); at != channels_.end();) {
      const auto next = std::next(at);
      if (moves(at->first)) {
        all.emplace_back(at->first, std::move(at->second));
        channels_.erase(at);
      }
      at = next;
    }
    return all;
  }

  [[nodiscard]] bool empty() const noexcept { return channels_.empty(); }
  /// Null: the channel has no listeners.
  [[nodiscard]] const std::vector<Listener>* listeners(std::string_view channel) const;
  [[nodiscard]] std::vector<std::string> names() const;

  // --- channels that the server rejected ---
  /// The channel is subscribed to once more if it is wanted then, and unsubscribed from if not. All
  /// retries are made at the time given last.
  void retry(const std::string& channel, TimePoint at);
  [[nodiscard]] TimePoint retries_at() const noexcept;
  std::vector<std::string> take_retries() noexcept { return std::exchange(retries_, {}); }

  // --- commands ---
  // Each is followed by a PING whose reply completes it: a confirmed SUBSCRIBE is answered by
  // pushes only, a rejected one by an error.

  /// Appends what a subscribe or unsubscribe changes on the server. False: nothing, and the PING is
  /// alone.
  bool append_change(CommandBuffer& buffer, Verb verb, const Channels& channels) const;
  /// Appends one SUBSCRIBE of all channels, for a new connection without sharded channels. False:
  /// there are none, and nothing was appended.
  bool append_all(CommandBuffer& buffer) const;
  void append_one(CommandBuffer& buffer, Verb verb, std::string_view channel) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };

  void remove(const Request& request, Sink& sink, std::span<Request* const> later) noexcept;
  [[nodiscard]] bool is_wanted(const std::string& channel, const Request& by,
                               std::span<Request* const> later) const;
  [[nodiscard]] std::string_view command_for(Verb verb) const noexcept;

  const Layout& layout_;
  std::unordered_map<std::string, std::vector<Listener>, Hash, std::equal_to<>> channels_;
  bool sharded_ = false;
  std::vector<std::string> retries_;
  TimePoint retries_at_{};
};

}  // namespace latchkey::inline v1::detail::redis
