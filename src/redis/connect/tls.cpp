// TLS to a Redis server, with OpenSSL.
// SPDX-License-Identifier: BSL-1.0
#include "redis/connect/tls.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>
#include <mutex>
#include <new>
#include <utility>

#include "backend/connection/tls_context.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

// OpenSSL's socket BIO writes with write(2), which raises SIGPIPE if the peer is gone. This BIO
// uses send(2) with MSG_NOSIGNAL.

int bio_socket(BIO* bio) noexcept { return *static_cast<int*>(BIO_get_data(bio)); }

bool would_block(int error) noexcept {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

int bio_write(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const auto sent = ::send(bio_socket(bio), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && would_block(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int bio_read(BIO* bio, char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const auto got = ::recv(bio_socket(bio), bytes, static_cast<std::size_t>(size), 0);
  if (got < 0 && would_block(errno)) BIO_set_retry_read(bio);
  if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(got);
}

long bio_control(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return 0;
}

BIO_METHOD* socket_method() {
  static BIO_METHOD* const method = [] {
    const int kind = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK;
    BIO_METHOD* const made = BIO_meth_new(kind, "latchkey socket");
    if (made == nullptr) throw std::bad_alloc();
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_ctrl(made, bio_control);
    return made;
  }();
  return method;
}

std::unique_ptr<ssl_ctx_st, FreeTlsContext> make_context(const TlsOptions& options) {
  std::unique_ptr<ssl_ctx_st, FreeTlsContext> made(make_tls_context(options, "Redis"));
  SSL_CTX_set_mode(made.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // Redis closes connections without a close_notify. The framing of RESP shows if a reply was cut.
  SSL_CTX_set_options(made.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  return made;
}

}  // namespace

void FreeTlsContext::operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }

void FreeTlsSession::operator()(SSL* session) const noexcept { SSL_free(session); }

TlsContext::TlsContext(const TlsOptions& options)
    : files_({authority_file(options), options.certificate, options.key},
             [options] { return make_context(options); }) {}

// The session keeps its context alive, also after a later one has taken its place.
std::unique_ptr<ssl_st, FreeTlsSession> TlsContext::new_session(std::string& problem) const {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<ssl_st, FreeTlsSession> made(SSL_new(files_.current().get()));
  problem = files_.problem();
  return made;
}

TlsSession::TlsSession(const TlsContext& context, int socket, std::string name)
    : context_(context),
      socket_(socket),
      name_(std::move(name)),
      session_(context.new_session(problem_)) {
  BIO* const bio = session_ != nullptr ? BIO_new(socket_method()) : nullptr;
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, &socket_);
  BIO_set_init(bio, 1);
  SSL* const session = session_.get();
  SSL_set_bio(session, bio, bio);
  SSL_set_connect_state(session);
  if (!expect_name(session, name_)) throw std::bad_alloc();
}

Io TlsSession::shake_hands() {
  const std::lock_guard lock(mutex_);
  ERR_clear_error();
  const int done = SSL_do_handshake(session_.get());
  if (done == 1) {
    context_.works();
    return Io::moved(0);
  }
  const int error = SSL_get_error(session_.get(), done);
  wants_to_write_ = error == SSL_ERROR_WANT_WRITE;
  if (wants_to_write_ || error == SSL_ERROR_WANT_READ) return Io::blocked();
  return Io::broken(verification_failure());
}

Failure TlsSession::verification_failure() const {
  const std::string more = problem_.empty() ? std::string() : "; " + problem_;
  const long verified = SSL_get_verify_result(session_.get());
  if (verified != X509_V_OK) {
    return certificate_refused(name_, X509_verify_cert_error_string(verified) + more);
  }
  const unsigned long code = ERR_peek_last_error();
  if (code == 0) return handshake_failure("the server closed the connection");
  if (ERR_GET_REASON(code) > SSL_AD_REASON_OFFSET) return tls_refused(openssl_reason() + more);
  return handshake_failure(answered_without_tls() ? "the server answered without TLS"
                                                  : openssl_reason());
}

Failure TlsSession::handshake_failure(std::string_view why) const {
  const std::string more = problem_.empty() ? std::string() : "; " + problem_;
  return no_tls(std::string(why) + more, context_.has_worked());
}

Io TlsSession::read(std::span<char> bytes) {
  const std::lock_guard lock(mutex_);
  ERR_clear_error();
  std::size_t count = 0;
  const int done = SSL_read_ex(session_.get(), bytes.data(), bytes.size(), &count);
  return result(done, count, "read");
}

Io TlsSession::write(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  ERR_clear_error();
  std::size_t count = 0;
  const int done = SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &count);
  return result(done, count, "write");
}

Io TlsSession::result(int returned, std::size_t count, const char* doing) {
  if (returned == 1) return Io::moved(count);
  const int system = errno;
  switch (SSL_get_error(session_.get(), returned)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: return Io::blocked();
    case SSL_ERROR_ZERO_RETURN: return Io::ended();
    case SSL_ERROR_SYSCALL:
      return system != 0 ? Io::broken(system_failure(doing, system)) : Io::ended();
    default:
      return Io::broken(
          tls_broken(openssl_reason() + (problem_.empty() ? std::string() : "; " + problem_)));
  }
}

void TlsSession::send_close_notify() noexcept {
  const std::lock_guard lock(mutex_);
  ERR_clear_error();
  if (SSL_is_init_finished(session_.get()) != 0) SSL_shutdown(session_.get());
  ERR_clear_error();
}

}  // namespace latchkey::inline v1::detail::redis
