// Connections to servers, shared by all threads: what the one that reads does for them.
#include <poll.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "redis/connection_multiplexer.hpp"

namespace latchkey::detail::redis {

// What is due by the clock, or was found out since: deadlines, the end of a connection, a new one.
void ConnectionMultiplexer::bring_forward(Lock& lock) {
  router_->tick(clock_.now());
  for (std::size_t index = 0; index < router_->connections().size(); ++index) {
    ServerConnection& wire = *router_->connections()[index];
    wire.session.tick(clock_.now());
    if (wire.session.trouble()) fail(lock, wire, *wire.session.trouble());
    const Clock::time_point now = clock_.now();
    if (wire.session.wants_connection(now) && router_->keeps(wire)) {
      wire.session.connecting(now);
      dial(lock, wire, true);
    } else if (wire.session.stage() != Session::Stage::down && wire.connector->due() <= now) {
      wire.session.stage() == Session::Stage::connecting ? dial(lock, wire, false)
                                                         : look(lock, wire);
    }
  }
  drop_idle(lock);
}

// A transport changes only with both mutexes held, or with the write mutex and in a stage in which
// nothing is sent.
void ConnectionMultiplexer::dial(Lock& lock, ServerConnection& wire, bool begins) {
  ++sockets_;
  lock.unlock();
  Io io = Io::blocked();
  try {
    const std::lock_guard writing(write_mutex_);
    io = begins ? wire.connector->start(clock_.now()) : wire.connector->resume(clock_.now());
  } catch (const std::bad_alloc&) {
    io = Io::broken(no_memory());
  }
  lock.lock();
  if (io.kind == Io::Kind::moved) {
    wire.session.connected();
  } else if (io.kind != Io::Kind::blocked) {
    fail(lock, wire, io.kind == Io::Kind::ended ? closed_by_server(false) : std::move(io.failure));
  }
}

void ConnectionMultiplexer::look(Lock& lock, ServerConnection& wire) {
  ++sockets_;
  lock.unlock();
  std::optional<Failure> elsewhere;
  try {
    const std::lock_guard writing(write_mutex_);
    elsewhere = wire.connector->check_route(clock_.now());
  } catch (const std::bad_alloc&) {
    elsewhere = no_memory();
  }
  lock.lock();
  if (elsewhere) fail(lock, wire, *std::move(elsewhere));
}

void ConnectionMultiplexer::fail(Lock& lock, ServerConnection& wire, Failure failure) {
  lock.unlock();
  const std::lock_guard writing(write_mutex_);
  lock.lock();
  Session& link = wire.session;
  // What the server said before it closed is the reason, not that it closed.
  if (link.trouble()) failure = *link.trouble();
  const bool connecting = link.stage() == Session::Stage::connecting;
  if (connecting && wire.transport.shakes_hands() && !failure.permanent) {
    failure = no_tls(failure.text);
  }
  if (connecting) {
    wire.connector->cancel();
  } else {
    wire.transport.close();
  }
  wire.write_blocked = false;
  wire.write_failure.reset();
  link.failed(std::move(failure), clock_.now());
}

// Who sends finds its wire with mutex_ held and has the write mutex, so nobody uses what goes here.
void ConnectionMultiplexer::drop_idle(Lock& lock) {
  while (std::unique_ptr<ServerConnection> idle = router_->drop_idle()) {
    lock.unlock();
    {
      const std::lock_guard writing(write_mutex_);
      idle.reset();
    }
    lock.lock();
  }
}

void ConnectionMultiplexer::read(Lock& lock, ServerConnection& wire) {
  lock.unlock();
  Io io = wire.transport.read(bytes_);
  lock.lock();
  switch (io.kind) {
    case Io::Kind::moved: wire.session.received({bytes_.data(), io.count}, clock_.now()); return;
    case Io::Kind::blocked:
      // Nothing is left to be read of a connection that can no longer be written to.
      if (wire.write_failure) fail(lock, wire, *wire.write_failure);
      return;
    case Io::Kind::ended: fail(lock, wire, closed_by_server(wire.session.was_answered())); return;
    case Io::Kind::broken: fail(lock, wire, std::move(io.failure)); return;
  }
}

void ConnectionMultiplexer::attend(const PollSet& polled, Lock& lock) {
  for (std::size_t index = 0; index < polled.size(); ++index) {
    ready(lock, polled.source(index), polled.happened(index));
  }
}

Clock::time_point ConnectionMultiplexer::due() const noexcept {
  Clock::time_point at = router_->due();
  for (const auto& wire : router_->connections()) {
    at = std::min(at, wire->session.due());
    if (wire->session.stage() != Session::Stage::down) at = std::min(at, wire->connector->due());
  }
  return at;
}

void ConnectionMultiplexer::add_all(PollSet& set) const {
  for (const auto& wire : router_->connections()) {
    switch (wire->session.stage()) {
      case Session::Stage::down: break;
      case Session::Stage::connecting:
        wire->connector->wait_for(set, {.wire = wire->number, .watch = false});
        break;
      case Session::Stage::greeting:
      case Session::Stage::up:
        set.add(wire->transport.fd(),
                static_cast<short>(wire->write_blocked ? POLLIN | POLLOUT : POLLIN),
                {.wire = wire->number, .watch = false});
        wire->connector->watch(set, {.wire = wire->number, .watch = true});
        break;
    }
  }
}

// Somebody else may have read, and wires may have come and gone, since the thread began to poll.
void ConnectionMultiplexer::ready(Lock& lock, PollSet::Source source, short events) {
  const auto found = std::ranges::find(router_->connections(), source.wire,
                                       [](const auto& wire) { return wire->number; });
  if (found == router_->connections().end()) return;
  ServerConnection& wire = **found;
  if (source.watch) {
    if (events != 0) look(lock, wire);
  } else if (events != 0 || wire.write_failure) {
    if (wire.session.stage() == Session::Stage::connecting) return dial(lock, wire, false);
    if (wire.session.stage() == Session::Stage::down) return;
    if ((events & POLLOUT) != 0) wire.write_blocked = false;
    if ((events & ~POLLOUT) != 0 || wire.write_failure) read(lock, wire);
  }
}

}  // namespace latchkey::detail::redis
