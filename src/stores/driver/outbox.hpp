// The outcomes and notifications that a store's client hands out, in order.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

namespace latchkey::inline v1::detail::stores {

/// One outcome, or one notification.
struct Delivery {
  Sink* sink = nullptr;
  Request* request = nullptr;  ///< null: a notification
  Outcome outcome{};
  Notification::Kind kind = Notification::Kind::released;
  std::string key{};
  HoldId id{};
  std::uint64_t place = 0, token = 0;
  std::string text{};

  /// Calls the sink.
  void hand_over() noexcept;
};

/// The requests that have no outcome yet, the deliveries that no sink has received yet, and the
/// sinks to which a change of the connection is told. One thread at a time.
///
/// The room for the outcome of a request is reserved when the request begins: `complete` needs no
/// memory for it, and `lose_all` needs none at all.
class Outbox {
 public:
  [[nodiscard]] bool empty() const noexcept {
    return first_ == deliveries_.size() && lost_.empty();
  }
  /// Moves the first deliveries to `to`, in order. Returns how many.
  std::size_t take(std::span<Delivery> to) noexcept;

  // --- requests ---
  /// From now on these requests are under way: all, or none if it throws std::bad_alloc.
  void begin(std::span<Request* const> requests, Sink& sink);
  /// Takes back requests that have begun: they get no outcome.
  void withdraw(std::span<Request* const> requests) noexcept;
  /// Requests without an outcome, and what no sink has received.
  [[nodiscard]] std::size_t outstanding() const noexcept {
    return under_way_.size() + lost_.size() + deliveries_.size() - first_;
  }
  /// The client has forgotten every request that is under way, for want of memory, and has lost its
  /// connection: their outcomes are unknown, and each sink is told that the connection is down.
  void lose_all() noexcept;

  /// Throws std::bad_alloc only for a request that has not begun, as in tests of a client's parts.
  void complete(Request& request, Sink& sink, Outcome&& outcome);
  /// Completes with an outcome that says nothing but its kind.
  void complete(Request& request, Sink& sink, Outcome::Kind kind);
  /// Completes as unknown. `why`: a clause. `never_ran`: as in Outcome. Throws std::bad_alloc, as
  /// do all members below that are not noexcept.
  void complete_unknown(Request& request, Sink& sink, const std::string& why, bool never_ran);
  void refuse(Request& request, Sink& sink, std::string why);

  // --- notifications ---
  void notify(Sink& sink, Notification::Kind kind, std::string_view key, const HoldId& id = {});
  void notify_granted(Sink& sink, std::string_view key, const HoldId& id, std::uint64_t place,
                      std::uint64_t token);

  /// For each sink that is known.
  void notify_all(Notification::Kind kind, std::string_view key, const std::string& text);

  /// `sink` submits: it is told of each later change of the connection, and of one since
  /// `Backend::connections` was queried.
  void know(Sink& sink);
  /// The state that Backend::connections reports: what sinks know without being told.
  void reported(bool up) noexcept { reported_up_ = up; }
  /// The connection is up or down; each sink that has been told the contrary is told. `why`: a
  /// clause.
  void link(bool up, const std::string& why);
  [[nodiscard]] bool is_up() const noexcept { return up_; }
  /// Tells each sink that the text of Backend::warning has changed. False: no sink is known yet.
  bool warn();

  /// In a forked child.
  void forget() noexcept;

 private:
  struct Listener {
    Sink* sink;
    bool told_up;
  };
  /// The sink of each request. To lose all requests moves nodes of the map and allocates none.
  using Requests = std::map<Request*, Sink*>;

  /// Reserves room for so many deliveries, beside one outcome for each request under way and one
  /// link_down for each listener.
  void make_room(std::size_t count);
  void push(Delivery&& delivery);
  void tell(Listener& listener, std::string why);

  std::vector<Delivery> deliveries_;  ///< those before `first_` were taken
  std::size_t first_ = 0;
  Requests under_way_;
  Requests lost_;
  std::vector<Listener> listeners_;  ///< usually one
  std::string why_;                  ///< the last reason
  bool up_ = false;
  bool reported_up_ = true;
};

}  // namespace latchkey::inline v1::detail::stores
