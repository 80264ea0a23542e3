// Creates certificates for the TLS server of a test.
#pragma once

#include <filesystem>
#include <string>

namespace latchkey::tests {

/// The paths of an authority, of a server and a client certificate that it signed, and of an
/// authority that signed neither. All files are in one folder, and valid for a day.
class Certificates {
 public:
  /// `server_names` is a subjectAltName of OpenSSL: "DNS:localhost,IP:127.0.0.1". Throws
  /// std::runtime_error if openssl(1) is missing or fails.
  Certificates(const std::filesystem::path& folder, const std::string& server_names);

  /// Puts other certificates, of another authority, where these are, as who renews them does: each
  /// file is replaced in one step.
  void renew() const;

  std::string authority, other_authority;
  std::string server, server_key;
  std::string client, client_key;

 private:
  std::filesystem::path folder_;
  std::string server_names_;
};

}  // namespace latchkey::tests
