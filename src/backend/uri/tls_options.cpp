// The TLS options of URIs.
// SPDX-License-Identifier: BSL-1.0
#include "backend/uri/tls_options.hpp"

#include <unistd.h>

#include "backend/uri/uri_syntax.hpp"

namespace latchkey::inline v1::detail {

void TlsOptions::complete(const UriSyntax& syntax) {
  if (certificate.empty() && !key.empty()) syntax.refuse_without("tls_key", "'tls_cert'");
  if (key.empty()) key = certificate;
}

std::string system_authorities() {
  for (const char* const file : {"/etc/ssl/certs/ca-certificates.crt",  // Debian, Alpine, Arch
                                 "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, RHEL
                                 "/etc/ssl/ca-bundle.pem"}) {           // SUSE
    if (::access(file, R_OK) == 0) return file;
  }
  return {};
}

}  // namespace latchkey::inline v1::detail
