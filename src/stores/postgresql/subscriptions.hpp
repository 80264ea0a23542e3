// Who listens to which key, and who is told if a hold of it is ended by force.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "stores/driver/outbox.hpp"

namespace latchkey::inline v1::detail::postgresql {

/// The subscriptions that are wanted, whether the server knows of them yet or not. All of them
/// share one channel of the connection. Watched holds share the channel of forced releases with
/// those of all clients, and the server knows nothing of them. One thread at a time.
class Subscriptions {
 public:
  /// `may_watch`: Options::watch_holds.
  Subscriptions(std::string channel, bool may_watch)
      : channel_(std::move(channel)), may_watch_(may_watch) {}

  /// The channel of latchkey.notify_holders.
  static constexpr std::string_view forced_releases = "latchkey_forced";
  [[nodiscard]] const std::string& channel() const noexcept { return channel_; }

  /// Idempotent. False: it was there. Throws std::bad_alloc.
  bool add(const Request& request, Sink& sink);
  void remove(const Request& request, Sink& sink) noexcept;
  void clear() noexcept {
    keys_.clear();
    watched_.clear();
  }

  /// The hold of this request is watched until it ends. As `add`.
  bool watch(const Request& request, Sink& sink);
  void unwatch(const Request& request, Sink& sink) noexcept;
  [[nodiscard]] bool may_watch() const noexcept { return may_watch_; }
  [[nodiscard]] bool watches() const noexcept { return !watched_.empty(); }

  /// Whether somebody still listens to what the request is about.
  [[nodiscard]] bool wanted(const Request& request) const;
  [[nodiscard]] bool empty() const noexcept { return keys_.empty(); }

  /// Keys, and the waiter of FAIR or an empty text, for each row that the server has to have.
  struct Rows {
    std::vector<std::string> keys, waiters;
  };
  [[nodiscard]] Rows rows() const;

  /// `<waiter> <key>`: notifies those who listen. Throws std::bad_alloc.
  void deliver(std::string_view payload, stores::Outbox& outbox) const;
  /// Somebody else has ended the holds of `key`: notifies each sink that watches one of them, and
  /// ends the watch. Throws std::bad_alloc.
  void deliver_forced(std::string_view key, stores::Outbox& outbox);

 private:
  struct Listener {
    Sink* sink;
    HoldId id;  ///< the hold that is watched; FAIR: the waiter; otherwise none
    friend bool operator==(const Listener&, const Listener&) = default;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Listeners = std::unordered_map<std::string, std::vector<Listener>, Hash, std::equal_to<>>;

  static Listener listener(const Request& request, Sink& sink) noexcept;
  static bool add(Listeners& all, std::string_view key, const Listener& added);
  static void remove(Listeners& all, std::string_view key, const Listener& removed) noexcept;

  const std::string channel_;
  const bool may_watch_;
  Listeners keys_;
  Listeners watched_;
};

}  // namespace latchkey::inline v1::detail::postgresql
