// TLS to a Redis server, with OpenSSL.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/small_mutex.hpp"
#include "redis/connect/io.hpp"
#include "redis/uri/redis_uri.hpp"

namespace latchkey::detail::redis {

/// Certificates and keys, read once.
///
/// hiredis_ssl is not used: it verifies no host name, blocks in its handshake or hides in which
/// direction it waits, and reads and writes through buffers of hiredis's context, which we do not
/// have.
class TlsContext {
 public:
  /// Throws std::invalid_argument where a file cannot be used: which option, which file and why.
  explicit TlsContext(const RedisUri& uri);

  [[nodiscard]] SSL_CTX& get() const noexcept { return *context_; }

 private:
  struct Free {
    void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  };

  std::unique_ptr<SSL_CTX, Free> context_;
};

/// One session over a connected, non-blocking socket. One thread may read while another writes: a
/// mutex stands around every call of OpenSSL's, and whoever must wait polls outside of it.
class TlsSession {
 public:
  /// The certificate must be for `name`. Throws std::bad_alloc. The socket stays its owner's.
  TlsSession(const TlsContext& context, int socket, std::string name);
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;
  ~TlsSession() = default;

  /// moved: the handshake is done and the server is who it should be.
  Io shake_hands();
  Io read(std::span<char> bytes);
  Io write(std::string_view bytes);
  /// Tells the other side that this is the end, as far as that can be said now.
  void say_goodbye() noexcept;

  /// After blocked: for POLLOUT rather than POLLIN.
  [[nodiscard]] bool wants_to_write() const noexcept { return wants_to_write_; }
  /// Held still while the process forks.
  [[nodiscard]] SmallMutex& mutex() noexcept { return mutex_; }

 private:
  struct Free {
    void operator()(SSL* session) const noexcept { SSL_free(session); }
  };

  Io result(int returned, std::size_t count, const char* doing);
  [[nodiscard]] Failure why_no_handshake() const;

  SmallMutex mutex_;
  int socket_;
  const std::string name_;
  std::unique_ptr<SSL, Free> session_;
  bool wants_to_write_ = false;
};

}  // namespace latchkey::detail::redis
