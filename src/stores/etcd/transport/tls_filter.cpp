// TLS between plain bytes and those of the network, with OpenSSL.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/transport/tls_filter.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>

namespace latchkey::inline v1::detail::etcd {
namespace {

std::string openssl_reason() {
  const unsigned long code = ERR_peek_last_error();
  // OpenSSL says "wrong version number" of every answer that is not TLS.
  if (ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_WRONG_VERSION_NUMBER) {
    return "the server answered without TLS";
  }
  const char* const reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  return reason != nullptr ? reason : "OpenSSL names no reason";
}

/// With TLS 1.3 a server refuses the client's certificate after the handshake. Which of these
/// alerts it sends depends on its library and version.
bool is_of_our_certificate(unsigned long code) {
  switch (ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_CERTIFICATE_REQUIRED: return true;
    default: return false;
  }
}

void require(bool done, std::string_view option, const std::string& file) {
  if (done) return;
  const std::string why = openssl_reason();
  ERR_clear_error();
  throw std::invalid_argument("the option '" + std::string(option) + "' of the etcd URI names " +
                              in_quotes(file) + ", which cannot be used: " + why);
}

/// Rejects keys that need a pass phrase: OpenSSL would ask for it at the terminal.
int no_pass_phrase(char* /*text*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

bool is_ip_address(const std::string& host) noexcept {
  in6_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool expects(SSL* session, const std::string& host) noexcept {
  if (is_ip_address(host)) {
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str()) == 1;
  }
  return SSL_set1_host(session, host.c_str()) == 1 &&
         SSL_set_tlsext_host_name(session, host.c_str()) == 1;
}

std::unique_ptr<ssl_ctx_st, FreeTlsContext> make_context(const TlsOptions& options) {
  std::unique_ptr<ssl_ctx_st, FreeTlsContext> made(SSL_CTX_new(TLS_client_method()));
  if (made == nullptr) throw std::bad_alloc();
  ERR_clear_error();
  SSL_CTX* const context = made.get();
  constexpr std::array<unsigned char, 3> http2{2, 'h', '2'};
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_alpn_protos(context, http2.data(), http2.size());
  SSL_CTX_set_default_passwd_cb(context, no_pass_phrase);
  if (options.ca.empty()) {
    SSL_CTX_set_default_verify_paths(context);
  } else {
    require(SSL_CTX_load_verify_file(context, options.ca.c_str()) == 1, "tls_ca", options.ca);
  }
  if (options.certificate.empty()) return made;
  require(SSL_CTX_use_certificate_chain_file(context, options.certificate.c_str()) == 1, "tls_cert",
          options.certificate);
  const bool fits =
      SSL_CTX_use_PrivateKey_file(context, options.key.c_str(), SSL_FILETYPE_PEM) == 1 &&
      SSL_CTX_check_private_key(context) == 1;
  require(fits, "tls_key", options.key);
  return made;
}

/// The file of the system's authorities, if the URI names none.
std::string authority_file(const TlsOptions& options) {
  if (!options.ca.empty()) return options.ca;
  const char* const named = std::getenv(X509_get_default_cert_file_env());
  return named != nullptr ? named : X509_get_default_cert_file();
}

}  // namespace

void FreeTlsContext::operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
void TlsFilter::Free::operator()(SSL* session) const noexcept { SSL_free(session); }

TlsContext::TlsContext(const TlsOptions& options)
    : files_({authority_file(options), options.certificate, options.key},
             [options] { return make_context(options); }),
      server_name_(options.server_name) {}

TlsFilter::TlsFilter(TlsContext& context, const std::string& host)
    : context_(context),
      host_(context.server_name().empty() ? host : context.server_name()),
      session_(SSL_new(&context.current())) {
  if (!context.problem().empty()) problem_ = "; " + context.problem();
  SSL* const session = session_.get();
  if (session == nullptr) throw std::bad_alloc();
  BIO* const received = BIO_new(BIO_s_mem());
  BIO* const to_send = BIO_new(BIO_s_mem());
  if (received == nullptr || to_send == nullptr) {
    BIO_free(received);
    BIO_free(to_send);
    throw std::bad_alloc();
  }
  SSL_set_bio(session, received, to_send);
  SSL_set_connect_state(session);
  if (!expects(session, host_)) throw std::bad_alloc();
}

void TlsFilter::feed(std::string_view received) {
  if (received.empty()) return;
  const int size = static_cast<int>(received.size());
  if (BIO_write(SSL_get_rbio(session_.get()), received.data(), size) != size)
    throw std::bad_alloc();
}

void TlsFilter::drain(std::string& to_send) {
  std::array<char, 4096> part{};
  for (;;) {
    const int size = BIO_read(SSL_get_wbio(session_.get()), part.data(), part.size());
    if (size <= 0) return;
    to_send.append(part.data(), static_cast<std::size_t>(size));
  }
}

TlsFilter::State TlsFilter::shake_hands(std::string_view received, std::string& to_send) {
  feed(received);
  ERR_clear_error();
  const int done = SSL_do_handshake(session_.get());
  const int error = SSL_get_error(session_.get(), done);
  drain(to_send);
  if (done == 1) {
    context_.works();
    return State::ready;
  }
  if (error == SSL_ERROR_WANT_READ) return State::shaking_hands;
  failure_ = handshake_failure() + problem_;
  return State::broken;
}

// An alert comes from a server that speaks TLS.
std::string TlsFilter::handshake_failure() const {
  const long verified = SSL_get_verify_result(session_.get());
  if (verified != X509_V_OK) {
    return "the certificate of " + in_quotes(host_) +
           " is not to be trusted: " + X509_verify_cert_error_string(verified);
  }
  if (ERR_GET_REASON(ERR_peek_last_error()) > SSL_AD_REASON_OFFSET) {
    return "the server refuses the TLS handshake: " + openssl_reason();
  }
  return "no TLS with this server: " + openssl_reason() +
         (context_.has_worked() ? "" : " (etcd: is without TLS, etcds: with it)");
}

TlsFilter::State TlsFilter::decrypt(std::string_view received, std::string& plain,
                                    std::string& to_send) {
  feed(received);
  std::array<char, 4096> part{};
  for (;;) {
    ERR_clear_error();
    const int size = SSL_read(session_.get(), part.data(), part.size());
    if (size > 0) {
      plain.append(part.data(), static_cast<std::size_t>(size));
      continue;
    }
    const int error = SSL_get_error(session_.get(), size);
    drain(to_send);
    if (error == SSL_ERROR_WANT_READ) return State::ready;
    if (error == SSL_ERROR_ZERO_RETURN) return State::ended;
    failure_ = is_of_our_certificate(ERR_peek_last_error())
                   ? "the server ends the TLS connection: it wants a certificate (tls_cert=) that "
                     "it trusts: "
                   : "the TLS connection broke: ";
    failure_ += openssl_reason() + problem_;
    return State::broken;
  }
}

TlsFilter::State TlsFilter::encrypt(std::string_view plain, std::string& to_send) {
  ERR_clear_error();
  const int size = static_cast<int>(plain.size());
  const bool done = plain.empty() || SSL_write(session_.get(), plain.data(), size) == size;
  drain(to_send);
  if (done) return State::ready;
  failure_ = "the TLS connection broke: " + openssl_reason() + problem_;
  return State::broken;
}

}  // namespace latchkey::inline v1::detail::etcd
