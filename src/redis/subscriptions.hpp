// Who listens to which channel.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <latchkey/backend.hpp>

#include "redis/command_buffer.hpp"

namespace latchkey::detail::redis {

/// The subscriptions that are wanted, whether the server knows of them yet or not. A channel may
/// serve several keys, and a key listens to several channels (names.hpp). One thread at a time.
class Subscriptions {
 public:
  struct Listener {
    Sink* sink;
    std::string key;
    HoldId id;  ///< FAIR: whose turn it is to be told; otherwise none

    friend bool operator==(const Listener&, const Listener&) = default;
  };

  /// Twice is once.
  void add(const Request& request, Sink& sink);
  void remove(const Request& request, Sink& sink) noexcept;
  void clear() noexcept { channels_.clear(); }

  [[nodiscard]] bool empty() const noexcept { return channels_.empty(); }

  /// Null: nobody listens there.
  [[nodiscard]] const std::vector<Listener>* listeners(std::string_view channel) const;

  /// Appends what tells the server of one subscribe or unsubscribe, and the PING whose answer
  /// closes it: a confirmed SUBSCRIBE answers by pushes only, a refused one by an error.
  void append_change(CommandBuffer& buffer, const Request& request) const;

  /// The same for all that is wanted, on a new connection. False: nothing is, nothing was appended.
  bool append_all(CommandBuffer& buffer) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };

  std::unordered_map<std::string, std::vector<Listener>, Hash, std::equal_to<>> channels_;
};

}  // namespace latchkey::detail::redis
