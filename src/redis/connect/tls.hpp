// TLS to a Redis server, with OpenSSL.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backend/connection/made_of_files.hpp"
#include "backend/uri/tls_options.hpp"
#include "core/small_mutex.hpp"
#include "redis/protocol/failure.hpp"

// OpenSSL's names of its types. Only tls.cpp includes its headers: no_tls.cpp does without OpenSSL.
struct ssl_ctx_st;  // NOLINT(readability-identifier-naming)
struct ssl_st;      // NOLINT(readability-identifier-naming)

namespace latchkey::inline v1::detail::redis {

struct FreeTlsContext {
  void operator()(ssl_ctx_st* context) const noexcept;
};
struct FreeTlsSession {
  void operator()(ssl_st* session) const noexcept;
};

/// Certificates and keys of a URI. Files that have changed are read again for the next connection.
///
/// hiredis_ssl is not used: it does not verify host names, its handshake blocks or does not say for
/// which event it waits, and it needs a hiredis context, which latchkey does not have.
class TlsContext {
 public:
  /// Throws std::invalid_argument if a file cannot be used: the option, the file and the reason;
  /// and if latchkey was built without OpenSSL.
  explicit TlsContext(const TlsOptions& options);

  /// A session with the files as they are now; null: no memory is left. `problem` receives why
  /// these files cannot be used, if earlier ones are used instead. Thread-safe.
  [[nodiscard]] std::unique_ptr<ssl_st, FreeTlsSession> new_session(std::string& problem) const;
  /// Whether some handshake with this context was complete.
  [[nodiscard]] bool has_worked() const noexcept {
    return has_worked_.load(std::memory_order_relaxed);
  }
  void works() const noexcept { has_worked_.store(true, std::memory_order_relaxed); }

 private:
  mutable SmallMutex mutex_;
  mutable MadeOfFiles<std::unique_ptr<ssl_ctx_st, FreeTlsContext>> files_;
  mutable std::atomic<bool> has_worked_{false};
};

/// One TLS session over a connected, non-blocking socket. One thread may read while another writes:
/// a mutex protects each call of OpenSSL, and no thread waits for the peer while it holds the
/// mutex.
class TlsSession {
 public:
  /// The server's certificate must be for `name`. The caller closes the socket, after the session.
  /// Throws std::bad_alloc.
  TlsSession(const TlsContext& context, int socket, std::string name);
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;
  ~TlsSession() = default;

  /// moved: the handshake is complete and the certificate is valid for the name.
  Io shake_hands();
  Io read(std::span<char> bytes);
  Io write(std::string_view bytes);
  /// Sends a close_notify if the socket takes it now.
  void send_close_notify() noexcept;

  /// The failure of a handshake that ended for this reason.
  [[nodiscard]] Failure handshake_failure(std::string_view why) const;

  /// After blocked: whether to poll for POLLOUT instead of POLLIN.
  [[nodiscard]] bool wants_to_write() const noexcept { return wants_to_write_; }
  /// The fork handlers lock it.
  [[nodiscard]] SmallMutex& mutex() noexcept { return mutex_; }

 private:
  Io result(int returned, std::size_t count, const char* doing);
  [[nodiscard]] Failure verification_failure() const;

  SmallMutex mutex_;
  const TlsContext& context_;
  int socket_;
  const std::string name_;
  std::string problem_;  ///< why the files of the URI cannot be used; empty: they can
  std::unique_ptr<ssl_st, FreeTlsSession> session_;
  bool wants_to_write_ = false;
};

}  // namespace latchkey::inline v1::detail::redis
