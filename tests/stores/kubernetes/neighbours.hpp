// The electors of client-go and fabric8, each in a process of its own, and the API server that they
// share with latchkey.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/process.hpp"
#include "support/servers/certificates.hpp"
#include "support/temporary_folder.hpp"

namespace latchkey::tests {

/// A program that a test runs. Building it, or getting what it needs, happens once.
struct Neighbour {
  std::string missing{};  ///< why it is not at hand, as a clause; empty: it is
  std::vector<std::string> command{};

  /// The program in ./go: client-go's elector, and the API server.
  [[nodiscard]] static const Neighbour& client_go();
  /// The program in ./fabric8.
  [[nodiscard]] static const Neighbour& fabric8();
};

/// For how long somebody has led, in nanoseconds since 1970.
struct Term {
  std::string who;
  std::int64_t begin = 0, end = 0;
};
[[nodiscard]] std::int64_t nanoseconds_now();

/// An API server with TLS, a token and HTTP/2, which is the program in ./go.
class TlsApiServer {
 public:
  TlsApiServer();

  [[nodiscard]] std::string address() const { return "https://127.0.0.1:" + port_; }
  [[nodiscard]] std::string uri() const {
    return "k8s://shop?server=" + address() + "&tls_ca=" + authority() +
           "&token_file=" + token_file();
  }
  [[nodiscard]] const std::string& authority() const noexcept { return certificates_.authority; }
  [[nodiscard]] std::string token_file() const { return folder_.file("token"); }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  TemporaryFolder folder_;
  const Certificates certificates_;
  std::unique_ptr<Process> process_;
  std::string port_;
};

/// A candidate in a process of its own, for the Lease `billing` with a duration of three seconds.
class Candidate {
 public:
  Candidate(const Neighbour& program, const TlsApiServer& server, std::string name);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool leads() const;
  /// Ends it with a release, and waits for its end.
  void resign();
  void kill();
  /// The terms so far. The last one of a process that was killed ends there.
  [[nodiscard]] std::vector<Term> terms() const;

 private:
  const std::string name_, log_;
  Process process_;
  std::int64_t killed_ = 0;
};

}  // namespace latchkey::tests
