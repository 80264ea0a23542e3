// Which of several servers a request goes to, where there is one.
#include "redis/router.hpp"

#include <utility>

namespace latchkey::detail::redis {

SingleServerRouter::SingleServerRouter(std::unique_ptr<ServerConnection> wire) : wire_(*wire) {
  connections_.push_back(std::move(wire));
}

void SingleServerRouter::submit(std::span<Request* const> requests, Sink& sink, TimePoint now) {
  wire_.link.submit(requests, sink, now);
}

bool SingleServerRouter::next(Delivery& delivery, TimePoint /*now*/) noexcept {
  return wire_.link.next(delivery);
}

std::size_t SingleServerRouter::outstanding() const noexcept { return wire_.link.unanswered(); }

Router::Start SingleServerRouter::start(Failure& why) {
  if (wire_.link.stage() == Session::Stage::up) return Start::settled;
  if (wire_.link.last_failure() == nullptr) return Start::goes_on;
  why = *wire_.link.last_failure();
  return Start::failed;
}

void SingleServerRouter::forget() noexcept { wire_.link.forget(); }

}  // namespace latchkey::detail::redis
