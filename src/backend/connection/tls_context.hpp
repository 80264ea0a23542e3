// The TLS context of a client, made of the TLS options of its URI, with OpenSSL.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include <latchkey/detail/in_quotes.hpp>
#include "backend/uri/tls_options.hpp"

// Inline, because a latchkey without TLS for Redis has no OpenSSL, while its etcd store has.
namespace latchkey::inline v1::detail {

[[nodiscard]] inline std::string openssl_reason() {
  const unsigned long code = ERR_peek_last_error();
  const char* const reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  if (reason != nullptr) return reason;
  return code != 0 ? "error " + std::to_string(code) : "no reason given";
}

/// OpenSSL says "wrong version number" of every answer that is not TLS.
[[nodiscard]] inline bool answered_without_tls() noexcept {
  const unsigned long code = ERR_peek_last_error();
  return ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_WRONG_VERSION_NUMBER;
}

/// The server's certificate must be for `name`. False: no memory is left.
[[nodiscard]] inline bool expect_name(SSL* session, const std::string& name) noexcept {
  in6_addr address{};
  const bool is_ip_address = ::inet_pton(AF_INET, name.c_str(), &address) == 1 ||
                             ::inet_pton(AF_INET6, name.c_str(), &address) == 1;
  if (is_ip_address) {
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), name.c_str()) == 1;
  }
  return SSL_set1_host(session, name.c_str()) == 1 &&
         SSL_set_tlsext_host_name(session, name.c_str()) == 1;
}

/// The file of the authorities to trust: the system's if the URI names none.
[[nodiscard]] inline std::string authority_file(const TlsOptions& options) {
  if (!options.ca.empty()) return options.ca;
  const char* const named = std::getenv(X509_get_default_cert_file_env());
  return named != nullptr ? named : X509_get_default_cert_file();
}

/// A context that verifies the server, from TLS 1.2 on; the caller frees it. Throws
/// std::invalid_argument, a sentence with the name of the `store`, if a file cannot be used.
[[nodiscard]] inline SSL_CTX* make_tls_context(const TlsOptions& options, std::string_view store) {
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> made(SSL_CTX_new(TLS_client_method()),
                                                         &SSL_CTX_free);
  if (made == nullptr) throw std::bad_alloc();
  ERR_clear_error();
  SSL_CTX* const context = made.get();
  const auto require = [&](bool done, std::string_view option, const std::string& file) {
    if (done) return;
    const std::string why = openssl_reason();
    ERR_clear_error();
    throw std::invalid_argument("the option " + in_quotes(option) + " of the " +
                                std::string(store) + " URI names " + in_quotes(file) +
                                ", which cannot be used: " + why);
  };
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  // Rejects keys that need a pass phrase: OpenSSL would ask for it at the terminal.
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return -1; });
  if (options.ca.empty()) {
    SSL_CTX_set_default_verify_paths(context);
  } else {
    require(SSL_CTX_load_verify_file(context, options.ca.c_str()) == 1, "tls_ca", options.ca);
  }
  if (options.certificate.empty()) return made.release();
  require(SSL_CTX_use_certificate_chain_file(context, options.certificate.c_str()) == 1, "tls_cert",
          options.certificate);
  const bool fits =
      SSL_CTX_use_PrivateKey_file(context, options.key.c_str(), SSL_FILETYPE_PEM) == 1 &&
      SSL_CTX_check_private_key(context) == 1;
  require(fits, "tls_key", options.key);
  return made.release();
}

}  // namespace latchkey::inline v1::detail
