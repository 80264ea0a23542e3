// Watches the connections and handles their events.
// SPDX-License-Identifier: BSL-1.0
#include "redis/multiplexer/reactor.hpp"

#include <poll.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace latchkey::inline v1::detail::redis {

void Reactor::add_descriptors(const MultiplexerState& state, PollSet& set) {
  using Purpose = PollSet::Purpose;
  for (const auto& connection : state.router->connections()) {
    const PollSet::Source io{.connection = connection->number, .purpose = Purpose::io};
    switch (connection->session.stage()) {
      case Session::Stage::down: break;
      case Session::Stage::connecting: connection->connector->wait_for(set, io); break;
      case Session::Stage::handshake:
      case Session::Stage::up:
        set.add(connection->transport.fd(),
                static_cast<short>(connection->write_blocked ? POLLIN | POLLOUT : POLLIN), io);
        connection->connector->watch(set,
                                     {.connection = connection->number, .purpose = Purpose::route});
        break;
    }
  }
}

Clock::time_point Reactor::next_deadline(const MultiplexerState& state) noexcept {
  Clock::time_point at = state.router->due();
  for (const auto& connection : state.router->connections()) {
    at = std::min(at, connection->session.due());
    if (connection->session.stage() != Session::Stage::down) {
      at = std::min(at, connection->connector_due);
    }
  }
  return at;
}

// If all connections are up, a request brings forward only the router's own deadlines.
Clock::time_point Reactor::next_deadline_of_submit(const MultiplexerState& state) noexcept {
  const bool all_up = std::ranges::all_of(state.router->connections(), [](const auto& connection) {
    return connection->session.stage() == Session::Stage::up;
  });
  return all_up ? state.router->due() : next_deadline(state);
}

void Reactor::handle_events(MultiplexerState& state, const PollSet& polled) {
  for (std::size_t index = 0; index < polled.size(); ++index) {
    handle_event(state, polled.source(index), polled.events(index));
  }
}

void Reactor::handle_event(MultiplexerState& state, PollSet::Source source, short events) {
  const auto connections = state.router->connections();
  const auto found = std::ranges::find(connections, source.connection,
                                       [](const auto& connection) { return connection->number; });
  if (found == connections.end()) return;
  ServerConnection& connection = **found;
  if (source.purpose == PollSet::Purpose::route) {
    if (events != 0) check_route(state, connection);
  } else if (events != 0 || connection.write_failure) {
    handle_io(state, connection, events);
  }
}

void Reactor::handle_io(MultiplexerState& state, ServerConnection& connection, short events) {
  const Session::Stage stage = connection.session.stage();
  if (stage == Session::Stage::down) return;
  if (stage == Session::Stage::connecting) return connect(state, connection, ConnectStep::resume);
  if ((events & POLLOUT) != 0) connection.write_blocked = false;
  if ((events & ~POLLOUT) != 0 || connection.write_failure) read(state, connection);
}

void Reactor::handle_deadlines(MultiplexerState& state) {
  state.router->tick(clock_.now());
  for (std::size_t index = 0; index < state.router->connections().size(); ++index) {
    handle_deadlines_of(state, *state.router->connections()[index]);
  }
  remove_idle(state);
}

void Reactor::handle_deadlines_of(MultiplexerState& state, ServerConnection& connection) {
  Session& session = connection.session;
  const Clock::time_point begun = clock_.now();
  if (session.seems_dead(begun)) read(state, connection);
  session.tick(begun);
  if (session.trouble()) disconnect(state, connection, *session.trouble());
  const Clock::time_point now = clock_.now();
  if (session.wants_connection(now) && state.router->keeps(connection)) {
    session.connecting(now);
    connect(state, connection, ConnectStep::start);
  } else if (session.stage() != Session::Stage::down && connection.connector_due <= now) {
    if (session.stage() == Session::Stage::connecting) {
      connect(state, connection, ConnectStep::resume);
    } else {
      check_route(state, connection);
    }
  }
}

void Reactor::connect(MultiplexerState& state, ServerConnection& connection, ConnectStep step) {
  ++generation_;
  Io io = Io::blocked();
  try {
    const ScopedUnlock unlocked(state.mutex);
    const ScopedLock writing(state.write_mutex);
    const Clock::time_point now = clock_.now();
    io = step == ConnectStep::start ? connection.connector->start(now)
                                    : connection.connector->resume(now);
  } catch (const std::bad_alloc&) {
    io = Io::broken(no_memory());
  }
  connection.connector_due = connection.connector->due();
  switch (io.kind) {
    case Io::Kind::moved: connection.session.connected(); return;
    case Io::Kind::blocked: return;
    case Io::Kind::ended: disconnect(state, connection, closed_by_server(false)); return;
    case Io::Kind::broken: disconnect(state, connection, std::move(io.failure)); return;
  }
}

void Reactor::check_route(MultiplexerState& state, ServerConnection& connection) {
  ++generation_;
  std::optional<Failure> rerouted;
  try {
    const ScopedUnlock unlocked(state.mutex);
    const ScopedLock writing(state.write_mutex);
    rerouted = connection.connector->check_route(clock_.now());
  } catch (const std::bad_alloc&) {
    rerouted = no_memory();
  }
  connection.connector_due = connection.connector->due();
  if (rerouted) disconnect(state, connection, *std::move(rerouted));
}

void Reactor::read(MultiplexerState& state, ServerConnection& connection) {
  Io io = Io::blocked();
  {
    const ScopedUnlock unlocked(state.mutex);
    io = connection.transport.read(buffer_);
  }
  switch (io.kind) {
    case Io::Kind::moved:
      connection.session.received({buffer_.data(), io.count}, clock_.now());
      return;
    case Io::Kind::blocked:
      // A connection that cannot be written to ends once everything has been read from it.
      if (connection.write_failure) disconnect(state, connection, *connection.write_failure);
      return;
    case Io::Kind::ended:
      disconnect(state, connection, closed_by_server(connection.session.was_answered()));
      return;
    case Io::Kind::broken: disconnect(state, connection, std::move(io.failure)); return;
  }
}

void Reactor::disconnect(MultiplexerState& state, ServerConnection& connection, Failure failure) {
  state.mutex.unlock();
  const ScopedLock writing(state.write_mutex);
  state.mutex.lock();
  Session& session = connection.session;
  // An error that the server sent before it closed is the reason, not that it closed.
  if (session.trouble()) failure = *session.trouble();
  const bool connecting = session.stage() == Session::Stage::connecting;
  if (connecting && connection.transport.shakes_hands() && !failure.permanent) {
    failure = connection.transport.handshake_failure(failure.text);
  }
  if (connecting) {
    connection.connector->cancel();
  } else {
    // A server that worked until it closed the connection may come back at its address.
    const bool worked = session.stage() == Session::Stage::up && !session.trouble();
    if (!worked) connection.connector->distrust();
    connection.transport.close();
  }
  connection.write_blocked = false;
  connection.write_failure.reset();
  session.failed(std::move(failure), clock_.now());
}

// A sender finds its connection with the mutex held and keeps the write mutex while it uses it, so
// nobody uses a connection that is destroyed here.
void Reactor::remove_idle(MultiplexerState& state) {
  while (std::unique_ptr<ServerConnection> idle = state.router->drop_idle()) {
    const ScopedUnlock unlocked(state.mutex);
    const ScopedLock writing(state.write_mutex);
    idle.reset();
  }
}

}  // namespace latchkey::inline v1::detail::redis
