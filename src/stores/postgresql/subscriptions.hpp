// Who listens to which key.
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
/// share one channel of the connection. One thread at a time.
class Subscriptions {
 public:
  explicit Subscriptions(std::string channel) : channel_(std::move(channel)) {}

  [[nodiscard]] const std::string& channel() const noexcept { return channel_; }

  /// Idempotent. False: it was there. Throws std::bad_alloc.
  bool add(const Request& request, Sink& sink);
  void remove(const Request& request, Sink& sink) noexcept;
  void clear() noexcept { keys_.clear(); }

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

 private:
  struct Listener {
    Sink* sink;
    HoldId id;  ///< FAIR: the waiter; otherwise none
    friend bool operator==(const Listener&, const Listener&) = default;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  static Listener listener(const Request& request, Sink& sink) noexcept;

  const std::string channel_;
  std::unordered_map<std::string, std::vector<Listener>, Hash, std::equal_to<>> keys_;
};

}  // namespace latchkey::inline v1::detail::postgresql
