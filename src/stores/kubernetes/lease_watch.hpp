// The watch of all Leases in a namespace.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <latchkey/clock.hpp>

#include "stores/kubernetes/connection.hpp"
#include "stores/kubernetes/lease.hpp"

namespace latchkey::inline v1::detail::kubernetes {

/// One watch, open for as long as the link is up. It begins with the Leases as they are, so nothing
/// that happens between two of them is missed but a deletion.
///
/// | state  | left when                                                          | for          |
/// |--------|--------------------------------------------------------------------|--------------|
/// | closed | the link is up, and the pause after the last watch is over         | opening      |
/// | opening| the API server has begun to answer; refuses; or fails              | open, denied,|
/// |        |                                                                    | closed       |
/// | open   | the API server ends it (410 Gone, its own time limit), it breaks   | closed       |
/// | denied | a minute has passed: a Role may have been changed                  | closed       |
/// | any    | the link goes down                                                 | closed       |
class LeaseWatch {
 public:
  enum class State : std::uint8_t { closed, opening, open, denied };

  /// `on_event`: a Lease was changed or deleted. `on_open`: the watch is open, perhaps again.
  /// `on_denied`: the API server forbids it. They may not call this object.
  struct Events {
    std::function<void(const WatchEvent&)> on_event;
    std::function<void()> on_open;
    std::function<void(const std::string& why)> on_denied;
  };
  LeaseWatch(ApiConnection& link, Clock& clock, Events events)
      : link_(link), clock_(clock), events_(std::move(events)) {}

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool is_open() const noexcept { return state_ == State::open; }

  void advance(Clock::time_point now);
  [[nodiscard]] Clock::time_point due() const noexcept {
    return link_.is_up() ? opens_at_ : Clock::never();
  }
  void on_link_up();
  void forget() noexcept;

 private:
  void open();
  /// Takes the lines that have arrived as a whole.
  void on_data(std::string& received);
  void on_end(http2::HttpEnd&& end);
  /// False: the watch has ended with this line.
  bool read_line(std::string_view line);
  void close(Clock::duration pause) noexcept;

  ApiConnection& link_;
  Clock& clock_;
  const Events events_;
  State state_ = State::closed;
  http2::RequestId stream_ = 0;
  Clock::time_point opens_at_ = Clock::never();
};

}  // namespace latchkey::inline v1::detail::kubernetes
