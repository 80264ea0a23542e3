// Certificates for a test's own TLS server, made on the spot.
#pragma once

#include <filesystem>
#include <string>

namespace latchkey::tests {

/// An authority, a server's certificate and a client's, both signed by it; and an authority that
/// signed nothing. All are files of one folder, good for a day.
class Certificates {
 public:
  /// `server_names` as OpenSSL's subjectAltName: "DNS:localhost,IP:127.0.0.1". Throws
  /// std::runtime_error where openssl(1) is missing or fails.
  Certificates(const std::filesystem::path& folder, const std::string& server_names);

  std::string authority, other_authority;
  std::string server, server_key;
  std::string client, client_key;
};

}  // namespace latchkey::tests
