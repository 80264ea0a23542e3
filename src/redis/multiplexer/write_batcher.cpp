// Sends the commands of several threads together.
// SPDX-License-Identifier: BSL-1.0
#include "redis/multiplexer/write_batcher.hpp"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>

namespace latchkey::inline v1::detail::redis {

bool WriteBatcher::keeps(const MultiplexerState& state, const void* thread,
                         std::size_t requests) noexcept {
  if (corked_by_ != thread) return handlers_of_ == thread && servers_are_busy(state);
  kept_ += requests;
  if (kept_ < most_kept) return true;
  kept_ = 0;
  return false;
}

void WriteBatcher::flush(MultiplexerState& state) {
  if (!holds_back(state)) send_all(state);
}

void WriteBatcher::flush_request(MultiplexerState& state, std::uint64_t request) {
  if (request > sent_requests_ || !holds_back(state)) send_all(state);
}

bool WriteBatcher::holds_back(const MultiplexerState& state) const noexcept {
  return (delivering_ || state.threads.spinning_threads() > 0) && servers_are_busy(state);
}

bool WriteBatcher::servers_are_busy(const MultiplexerState& state) noexcept {
  return std::ranges::all_of(state.router->connections(), [](const auto& connection) {
    const std::size_t unsent = connection->session.unsent();
    return !connection->can_send() ||
           (unsent <= connection->session.backlog() && unsent < full_batch);
  });
}

// A thread that finds the write mutex locked leaves its bytes to the thread that holds it: that one
// looks for more, with the mutex held, before it unlocks the write mutex.
void WriteBatcher::send_all(MultiplexerState& state) {
  if (next_sendable(state) != nullptr) {
    if (!state.write_mutex.try_lock()) return;
    const ScopedLock writing(state.write_mutex, std::adopt_lock);
    while (ServerConnection* const connection = next_sendable(state)) send(state, *connection);
  }
  sent_requests_ = state.submitted;
}

// Connections take turns.
ServerConnection* WriteBatcher::next_sendable(const MultiplexerState& state) noexcept {
  const auto connections = state.router->connections();
  for (std::size_t step = 1; step <= connections.size(); ++step) {
    const std::size_t index = (last_sender_ + step) % connections.size();
    if (!connections[index]->can_send()) continue;
    last_sender_ = index;
    return connections[index].get();
  }
  return nullptr;
}

void WriteBatcher::send(MultiplexerState& state, ServerConnection& connection) {
  const std::string_view bytes = connection.session.to_send();
  if (bytes.empty()) return;
  Io io = Io::blocked();
  {
    const ScopedUnlock unlocked(state.mutex);
    io = connection.transport.write(bytes);
  }
  switch (io.kind) {
    case Io::Kind::moved: connection.session.sent(io.count); return;
    case Io::Kind::blocked: connection.write_blocked = true; break;
    case Io::Kind::ended: connection.write_failure = closed_by_server(true); break;
    case Io::Kind::broken: connection.write_failure = std::move(io.failure); break;
  }
  state.threads.interrupt_leader();  // it polls until the socket is writable, or reads the rest
}

}  // namespace latchkey::inline v1::detail::redis
