// Creates certificates for the TLS server of a test.
#include "support/servers/certificates.hpp"

#include <fstream>
#include <utility>

#include "support/process.hpp"

namespace latchkey::tests {
namespace {

class Maker {
 public:
  explicit Maker(std::filesystem::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::string file(const std::string& name) const { return folder_ / name; }

  /// Creates name.pem and name.key, self-signed.
  void authority(const std::string& name) const {
    openssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-days", "1", "-subj", "/CN=" + name, "-keyout", file(name + ".key"), "-out",
             file(name + ".pem")});
  }
  /// Creates name.pem and name.key, signed by an authority.
  void signed_by(const std::string& authority, const std::string& name,
                 const std::string& alternative_names) const {
    openssl({"req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
             "/CN=" + name, "-keyout", file(name + ".key"), "-out", file(name + ".csr")});
    std::ofstream(file(name + ".ext")) << "subjectAltName=" << alternative_names << '\n';
    openssl({"x509", "-req", "-days", "1", "-in", file(name + ".csr"), "-CA",
             file(authority + ".pem"), "-CAkey", file(authority + ".key"), "-CAcreateserial",
             "-extfile", file(name + ".ext"), "-out", file(name + ".pem")});
  }

 private:
  void openssl(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "openssl");
    run(arguments, file("openssl.log"));
  }

  std::filesystem::path folder_;
};

}  // namespace

Certificates::Certificates(const std::filesystem::path& folder, const std::string& server_names)
    : folder_(folder), server_names_(server_names) {
  const Maker maker(folder);
  maker.authority("authority");
  maker.authority("other");
  maker.signed_by("authority", "server", server_names);
  maker.signed_by("authority", "client", "DNS:client");
  authority = maker.file("authority.pem");
  other_authority = maker.file("other.pem");
  server = maker.file("server.pem");
  server_key = maker.file("server.key");
  client = maker.file("client.pem");
  client_key = maker.file("client.key");
}

void Certificates::renew() const {
  const std::filesystem::path folder = folder_ / "renewed";
  std::filesystem::create_directory(folder);
  const Certificates made(folder, server_names_);
  for (const auto& [from, to] : {std::pair{&made.authority, &authority},
                                 {&made.server, &server},
                                 {&made.server_key, &server_key},
                                 {&made.client, &client},
                                 {&made.client_key, &client_key}}) {
    std::filesystem::rename(*from, *to);
  }
}

}  // namespace latchkey::tests
