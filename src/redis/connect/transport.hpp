// A byte stream to a server: TCP, a Unix socket, or TLS over TCP.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/file_descriptor.hpp"
#include "core/thread_annotations.hpp"
#include "redis/connect/addresses.hpp"
#include "redis/connect/tls.hpp"
#include "redis/protocol/failure.hpp"

namespace latchkey::inline v1::detail::redis {

/// Never blocks. One thread may read while another writes. All other functions are called by one
/// thread while no thread reads or writes.
class Transport {
 public:
  /// `tls` outlives the transport; null: no TLS. A TCP connection ends when bytes are neither sent
  /// nor acknowledged for `patience`: the peer may be gone without a trace.
  Transport(const TlsContext* tls, std::chrono::milliseconds patience) noexcept
      : tls_(tls), patience_(patience) {}

  /// Starts to connect. blocked: call `continue_connect` after an event of `wanted`. With TLS the
  /// server's certificate must be for `name`.
  Io connect(const Address& address, const std::string& name);
  Io continue_connect();

  Io read(std::span<char> bytes);
  Io write(std::string_view bytes);

  /// Whether the TLS handshake has started.
  [[nodiscard]] bool shakes_hands() const noexcept { return session_ != nullptr; }
  /// Only once the TLS handshake has started: the failure that ends it for this reason.
  [[nodiscard]] Failure handshake_failure(std::string_view why) const {
    return session_->handshake_failure(why);
  }
  [[nodiscard]] bool is_open() const noexcept { return socket_.valid(); }
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  /// The events of poll(2) to wait for while connecting.
  [[nodiscard]] short wanted() const noexcept;

  /// Sends a close_notify if there is TLS.
  void close() noexcept;
  /// Sends nothing.
  void drop() noexcept;
  /// In a forked child: closes the descriptor only, because the parent uses the connection.
  void abandon() noexcept;

  void lock_for_fork() noexcept LATCHKEY_FORK_HANDLER;
  void unlock_after_fork() noexcept LATCHKEY_FORK_HANDLER;

 private:
  Io start_tls();

  const TlsContext* const tls_;
  const std::chrono::milliseconds patience_;
  std::string name_;
  FileDescriptor socket_;
  std::unique_ptr<TlsSession> session_;
};

}  // namespace latchkey::inline v1::detail::redis
