// What a store's client hands out: outcomes and notifications, in order.
// SPDX-License-Identifier: BSL-1.0
#pragma once

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

/// The deliveries that no sink has received yet, and the sinks to which a change of the connection
/// is told. One thread at a time.
class Outbox {
 public:
  [[nodiscard]] bool empty() const noexcept { return deliveries_.empty(); }
  /// Exchanges all of them, in order, for an empty vector, whose memory is used again.
  void take(std::vector<Delivery>& empty) noexcept { deliveries_.swap(empty); }

  /// Throws std::bad_alloc, as do all below.
  void complete(Request& request, Sink& sink, Outcome&& outcome);
  /// An outcome without more.
  void complete(Request& request, Sink& sink, Outcome::Kind kind);
  /// unknown; `never_ran` as in Outcome. `why`: a clause.
  void complete_unknown(Request& request, Sink& sink, const std::string& why, bool never_ran);
  void refuse(Request& request, Sink& sink, std::string why);

  void notify(Sink& sink, Notification::Kind kind, std::string_view key, const HoldId& id = {});
  void notify_granted(Sink& sink, std::string_view key, const HoldId& id, std::uint64_t place,
                      std::uint64_t token);

  /// A sink that submits: it is told of each later change of the connection, and of one that it
  /// has missed since `Backend::connections` was queried.
  void know(Sink& sink);
  /// The state that Backend::connections reports: what sinks know without being told.
  void reported(bool up) noexcept { reported_up_ = up; }
  /// The connection is up or down; each sink that has been told the contrary is told. `why`: a
  /// clause.
  void link(bool up, const std::string& why);
  [[nodiscard]] bool is_up() const noexcept { return up_; }

  /// In a forked child.
  void forget() noexcept;

 private:
  struct Listener {
    Sink* sink;
    bool told_up;
  };
  void tell(Listener& listener);

  std::vector<Delivery> deliveries_;
  std::vector<Listener> listeners_;  ///< usually one
  std::string why_;                  ///< the last reason
  bool up_ = false;
  bool reported_up_ = true;
};

}  // namespace latchkey::inline v1::detail::stores
