// The router of a deployment that has one server only.
// SPDX-License-Identifier: BSL-1.0
#include "redis/router.hpp"

#include <utility>

namespace latchkey::inline v1::detail::redis {

SingleServerRouter::SingleServerRouter(std::unique_ptr<ServerConnection> connection)
    : connection_(*connection) {
  connections_.push_back(std::move(connection));
}

void SingleServerRouter::submit(std::span<Request* const> requests, Sink& sink, TimePoint now) {
  connection_.session.submit(requests, sink, now);
}

bool SingleServerRouter::next(Delivery& delivery, TimePoint /*now*/) noexcept {
  return connection_.session.next(delivery);
}

std::size_t SingleServerRouter::outstanding() const noexcept {
  return connection_.session.unanswered();
}

Router::Start SingleServerRouter::start(Failure& why) {
  if (connection_.session.stage() == Session::Stage::up) return Start::settled;
  if (connection_.session.last_failure() == nullptr) return Start::in_progress;
  why = *connection_.session.last_failure();
  return Start::failed;
}

void SingleServerRouter::forget() noexcept { connection_.session.forget(); }

}  // namespace latchkey::inline v1::detail::redis
