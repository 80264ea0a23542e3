// Sends the commands of several threads together.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/thread_annotations.hpp"
#include "redis/multiplexer/multiplexer_state.hpp"

namespace latchkey::inline v1::detail::redis {

/// Sends what connections have to send, with one system call for many commands: that costs a
/// fraction of one call for each, here and at the server.
///
/// It holds commands back while a thread delivers replies or spins, because the threads that get
/// their replies soon submit the next commands. The thread that delivers sends for all of them when
/// it has finished; a spinning thread sends after its first yield or when it stops. To keep the
/// server busy meanwhile, no more is held back than the server still has to process.
///
/// The thread of an event loop holds its commands back as well, from when it has delivered replies
/// until it has run their handlers. Requests of other threads are sent meanwhile, because a handler
/// may take long.
///
/// A thread that has corked the connections keeps what it submits until it has submitted 1 024
/// requests, or uncorks. Requests of other threads take the kept ones along.
class WriteBatcher {
 public:
  // --- one thread that submits many requests; `thread` is an address of its own ---
  void cork(const void* thread) noexcept {
    if (corked_by_ == nullptr) corked_by_ = thread;
    kept_ = 0;
  }
  void uncork(const void* thread) noexcept {
    if (corked_by_ == thread) corked_by_ = nullptr;
  }
  // --- an event loop's thread, which runs the handlers of what it has delivered ---
  void begin_handlers(const void* thread) noexcept { handlers_of_ = thread; }
  /// False: it has ended already.
  bool end_handlers(const void* thread) noexcept {
    if (handlers_of_ != thread) return false;
    handlers_of_ = nullptr;
    return true;
  }

  /// Whether the thread need not send now, after it has submitted these requests.
  [[nodiscard]] bool keeps(const MultiplexerState& state, const void* thread,
                           std::size_t requests) noexcept LATCHKEY_REQUIRES(state.mutex);

  /// Sends everything unless it is better held back. Throws std::bad_alloc.
  void flush(MultiplexerState& state) LATCHKEY_REQUIRES(state.mutex);
  /// Does what `flush` does, but sends in any case if the request with this number was not sent.
  void flush_request(MultiplexerState& state, std::uint64_t request) LATCHKEY_REQUIRES(state.mutex);

  /// `delivering`: commands are held back until it ends; the caller flushes then.
  void set_delivering(bool delivering) noexcept { delivering_ = delivering; }

 private:
  /// A batch that is sent at once: six commands or so.
  static constexpr std::size_t full_batch = 1'500;
  /// About 100 KB of renewals: the server works on them while more are submitted.
  static constexpr std::size_t most_kept = 1'024;

  [[nodiscard]] bool holds_back(const MultiplexerState& state) const noexcept
      LATCHKEY_REQUIRES(state.mutex);
  [[nodiscard]] static bool servers_are_busy(const MultiplexerState& state) noexcept
      LATCHKEY_REQUIRES(state.mutex);
  void send_all(MultiplexerState& state) LATCHKEY_REQUIRES(state.mutex);
  [[nodiscard]] ServerConnection* next_sendable(const MultiplexerState& state) noexcept
      LATCHKEY_REQUIRES(state.mutex);
  static void send(MultiplexerState& state, ServerConnection& connection)
      LATCHKEY_REQUIRES(state.mutex, state.write_mutex);

  bool delivering_ = false;
  const void* corked_by_ = nullptr;    ///< null: no thread
  std::size_t kept_ = 0;               ///< how many requests that thread has kept
  const void* handlers_of_ = nullptr;  ///< null: no thread
  std::size_t last_sender_ = 0;        ///< index of the connection that was served last
  std::uint64_t sent_requests_ = 0;    ///< the requests up to this number were sent
};

}  // namespace latchkey::inline v1::detail::redis
