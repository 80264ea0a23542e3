// Who listens to which channel.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "redis/protocol/command_buffer.hpp"

namespace latchkey::detail::redis {

/// The subscriptions that are wanted, whether the server knows of them yet or not. A channel may
/// serve several keys, and a key listens to several channels (names.hpp). One thread at a time.
///
/// Of a sharded channel only the node of a cluster that has its slot knows, and one SSUBSCRIBE is
/// about one slot.
class Subscriptions {
 public:
  struct Listener {
    Sink* sink;
    std::string key;
    HoldId id;  ///< FAIR: whose turn it is to be told; otherwise none

    friend bool operator==(const Listener&, const Listener&) = default;
  };
  using Channel = std::pair<std::string, std::vector<Listener>>;

  void be_sharded(bool sharded) noexcept { sharded_ = sharded; }

  /// Twice is once.
  void add(const Request& request, Sink& sink);
  void remove(const Request& request, Sink& sink) noexcept;
  void clear() noexcept { channels_.clear(); }

  /// Takes out the channels of which `moves(name)` is true.
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
  /// What was taken out of others.
  void add(Channel channel);

  [[nodiscard]] bool empty() const noexcept { return channels_.empty(); }

  /// Null: nobody listens there.
  [[nodiscard]] const std::vector<Listener>* listeners(std::string_view channel) const;

  /// Appends what tells the server of one subscribe or unsubscribe, and the PING whose answer
  /// closes it: a confirmed SUBSCRIBE answers by pushes only, a refused one by an error.
  void append_change(CommandBuffer& buffer, const Request& request) const;

  /// The same for all that is wanted, on a new connection. False: nothing is, nothing was appended.
  bool append_all(CommandBuffer& buffer) const;
  /// The same for one.
  void append_this(CommandBuffer& buffer, Verb verb, std::string_view channel) const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  [[nodiscard]] std::string_view word(Verb verb) const noexcept;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };

  std::unordered_map<std::string, std::vector<Listener>, Hash, std::equal_to<>> channels_;
  bool sharded_ = false;
};

}  // namespace latchkey::detail::redis
