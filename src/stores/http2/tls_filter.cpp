// TLS between plain bytes and those of the network, with OpenSSL.
// SPDX-License-Identifier: BSL-1.0
#include "stores/http2/tls_filter.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <new>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>
#include "backend/connection/tls_context.hpp"

namespace latchkey::inline v1::detail::http2 {
namespace {

std::string connection_reason() {
  return answered_without_tls() ? "the server answered without TLS" : openssl_reason();
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

std::unique_ptr<ssl_ctx_st, FreeTlsContext> make_context(const TlsOptions& options,
                                                         std::string_view store) {
  std::unique_ptr<ssl_ctx_st, FreeTlsContext> made(make_tls_context(options, store));
  constexpr std::array<unsigned char, 3> http2{2, 'h', '2'};
  SSL_CTX_set_alpn_protos(made.get(), http2.data(), http2.size());
  return made;
}

}  // namespace

void FreeTlsContext::operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
void TlsFilter::Free::operator()(SSL* session) const noexcept { SSL_free(session); }

TlsContext::TlsContext(const TlsOptions& options, const StoreWords& words)
    : files_({authority_file(options), options.certificate, options.key},
             [options, store = words.name] { return make_context(options, store); }),
      server_name_(options.server_name),
      words_(words) {}

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
  if (!expect_name(session, host_)) throw std::bad_alloc();
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
    return "the server refuses the TLS handshake: " + connection_reason();
  }
  return "no TLS with this server: " + connection_reason() + context_.hint();
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
    failure_ += connection_reason() + problem_;
    return State::broken;
  }
}

TlsFilter::State TlsFilter::encrypt(std::string_view plain, std::string& to_send) {
  ERR_clear_error();
  const int size = static_cast<int>(plain.size());
  const bool done = plain.empty() || SSL_write(session_.get(), plain.data(), size) == size;
  drain(to_send);
  if (done) return State::ready;
  failure_ = "the TLS connection broke: " + connection_reason() + problem_;
  return State::broken;
}

}  // namespace latchkey::inline v1::detail::http2
