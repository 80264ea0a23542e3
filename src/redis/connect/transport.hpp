// A connection that carries bytes: TCP, a Unix socket, TLS over TCP.
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
#include "redis/connect/io.hpp"
#include "redis/connect/tls.hpp"

namespace latchkey::detail::redis {

/// Never blocks. One thread may read while another writes; everything else is done by one thread
/// while nobody reads or writes.
class Transport {
 public:
  /// `tls` outlives it; null: without. QueuedRequest and unacknowledged bytes end a TCP connection
  /// after `patience`: the other end may be gone without a trace.
  Transport(const TlsContext* tls, std::chrono::milliseconds patience) noexcept
      : tls_(tls), patience_(patience) {}

  /// Begins to connect; blocked: call `connect_further` when polling says so. With TLS the server's
  /// certificate must be for `name`.
  Io connect(const Address& address, const std::string& name);
  Io connect_further();

  Io read(std::span<char> bytes);
  Io write(std::string_view bytes);

  /// TLS has begun, whether it is complete or not.
  [[nodiscard]] bool shakes_hands() const noexcept { return session_ != nullptr; }
  [[nodiscard]] bool is_open() const noexcept { return socket_.valid(); }
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  /// What to poll for while connecting, as poll(2) has it.
  [[nodiscard]] short wanted() const noexcept;

  /// With a close_notify where there is TLS.
  void close() noexcept;
  /// Without, where there is nothing to say any more.
  void drop() noexcept;
  /// Without a byte: in a forked child, whose parent goes on with the connection.
  void abandon() noexcept;

  void lock_for_fork() noexcept LATCHKEY_FORK_HANDLER;
  void unlock_after_fork() noexcept LATCHKEY_FORK_HANDLER;

 private:
  Io begin_tls();

  const TlsContext* const tls_;
  const std::chrono::milliseconds patience_;
  std::string name_;
  FileDescriptor socket_;
  std::unique_ptr<TlsSession> session_;
};

}  // namespace latchkey::detail::redis
