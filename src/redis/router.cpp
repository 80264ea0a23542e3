// Which of several servers a request goes to, where there is one.
#include "redis/router.hpp"

#include <utility>

namespace latchkey::detail::redis {

OneServer::OneServer(std::unique_ptr<Wire> wire) : wire_(*wire) {
  wires_.push_back(std::move(wire));
}

void OneServer::submit(std::span<Request* const> requests, Sink& sink, TimePoint now) {
  wire_.link.submit(requests, sink, now);
}

bool OneServer::next(Delivery& delivery, TimePoint /*now*/) noexcept {
  return wire_.link.next(delivery);
}

std::size_t OneServer::outstanding() const noexcept { return wire_.link.unanswered(); }

Router::Start OneServer::start(Failure& why) {
  if (wire_.link.stage() == Link::Stage::up) return Start::settled;
  if (wire_.link.last_failure() == nullptr) return Start::goes_on;
  why = *wire_.link.last_failure();
  return Start::failed;
}

void OneServer::forget() noexcept { wire_.link.forget(); }

}  // namespace latchkey::detail::redis
