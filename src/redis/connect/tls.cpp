// TLS to a Redis server, with OpenSSL.
// SPDX-License-Identifier: BSL-1.0
#include "redis/connect/tls.hpp"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>

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

std::string openssl_reason() {
  const unsigned long code = ERR_peek_last_error();
  const char* const reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  if (reason != nullptr) return reason;
  return code != 0 ? "error " + std::to_string(code) : "no reason given";
}

/// OpenSSL says "wrong version number" of every answer that is not TLS.
bool answered_without_tls() {
  const unsigned long code = ERR_peek_last_error();
  return ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_WRONG_VERSION_NUMBER;
}

void require(bool done, std::string_view option, const std::string& file) {
  if (done) return;
  const std::string why = openssl_reason();
  ERR_clear_error();
  throw std::invalid_argument("the option '" + std::string(option) + "' of the Redis URI names '" +
                              file + "', which cannot be used: " + why);
}

/// Rejects keys that need a pass phrase: OpenSSL would ask for it at the terminal.
int no_pass_phrase(char* /*text*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

bool is_ip_address(const std::string& name) noexcept {
  in6_addr address{};
  return ::inet_pton(AF_INET, name.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

std::unique_ptr<ssl_ctx_st, FreeTlsContext> make_context(const RedisUri& uri) {
  std::unique_ptr<ssl_ctx_st, FreeTlsContext> made(SSL_CTX_new(TLS_client_method()));
  if (made == nullptr) throw std::bad_alloc();
  ERR_clear_error();
  SSL_CTX* const context = made.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // Redis closes connections without a close_notify. The framing of RESP shows if a reply was cut.
  SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_default_passwd_cb(context, no_pass_phrase);
  if (uri.tls.ca.empty()) {
    SSL_CTX_set_default_verify_paths(context);
  } else {
    require(SSL_CTX_load_verify_file(context, uri.tls.ca.c_str()) == 1, "tls_ca", uri.tls.ca);
  }
  if (uri.tls.certificate.empty()) return made;
  require(SSL_CTX_use_certificate_chain_file(context, uri.tls.certificate.c_str()) == 1, "tls_cert",
          uri.tls.certificate);
  const bool fits =
      SSL_CTX_use_PrivateKey_file(context, uri.tls.key.c_str(), SSL_FILETYPE_PEM) == 1 &&
      SSL_CTX_check_private_key(context) == 1;
  require(fits, "tls_key", uri.tls.key);
  return made;
}

/// The file of the system's authorities, if the URI names none.
std::string authority_file(const RedisUri& uri) {
  if (!uri.tls.ca.empty()) return uri.tls.ca;
  const char* const named = std::getenv(X509_get_default_cert_file_env());
  return named != nullptr ? named : X509_get_default_cert_file();
}

}  // namespace

void FreeTlsContext::operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }

void FreeTlsSession::operator()(SSL* session) const noexcept { SSL_free(session); }

TlsContext::TlsContext(const RedisUri& uri)
    : files_({authority_file(uri), uri.tls.certificate, uri.tls.key},
             [uri] { return make_context(uri); }) {}

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
  const bool named =
      is_ip_address(name_)
          ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), name_.c_str()) == 1
          : SSL_set1_host(session, name_.c_str()) == 1 &&
                SSL_set_tlsext_host_name(session, name_.c_str()) == 1;
  if (!named) throw std::bad_alloc();
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
