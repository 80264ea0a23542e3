// The TLS options of URIs, which have the same names for every store.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

namespace latchkey::inline v1::detail {

class UriSyntax;

/// | option          | value                                                            | default |
/// |-----------------|------------------------------------------------------------------|---------|
/// | tls_ca          | a file with the certificates of the authorities to trust         | system's|
/// | tls_cert        | a file with this client's certificate                            | none    |
/// | tls_key         | a file with its private key                                      | tls_cert|
/// | tls_server_name | the name that the server's certificate must be valid for         | the host|
struct TlsOptions {
  std::string ca, certificate, key, server_name;
  /// The scheme of a URI with TLS, if this one has none.
  std::string missing_scheme;

  /// Whether this URI may have these options.
  [[nodiscard]] bool offered() const noexcept { return missing_scheme.empty(); }
  [[nodiscard]] bool names_files() const noexcept { return !ca.empty() || !certificate.empty(); }
  /// After all options were read: completes `key`.
  void complete(const UriSyntax& syntax);
};

/// The file with the certificates of the authorities that the system trusts, for a library that
/// does not know where it is; empty: it is not where it usually is.
[[nodiscard]] std::string system_authorities();

}  // namespace latchkey::inline v1::detail
