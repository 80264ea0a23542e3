// Tests of what libmongoc verifies with tls=true, and that no program inherits a connection.
// SPDX-License-Identifier: BSL-1.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/mongodb.hpp>

#include "fake_server.hpp"
#include "support/inheritable_sockets.hpp"
#include "support/servers/certificates.hpp"
#include "support/servers/tls_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class MongoDbTls : public ::testing::Test {
 protected:
  MongoDbTls() {
    std::string name = std::filesystem::temp_directory_path() / "latchkey-tls-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    folder_ = name;
  }
  ~MongoDbTls() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  /// The server speaks TLS, and no MongoDB: what fails is what comes first.
  [[nodiscard]] static std::string failure(const TlsServer& server, const std::string& host,
                                           const std::string& authority) {
    register_mongodb();
    try {
      static_cast<void>(Locks::connect(
          "mongodb://" + host + ':' + std::to_string(server.port()) + "/locks?tls_ca=" + authority,
          {.command_timeout = 2s}));
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
  std::filesystem::path folder_;
};

TEST_F(MongoDbTls, TheCertificateIsVerifiedWithItsHostName) {
  const Certificates files(folder_, "DNS:localhost");
  const TlsServer server(files, {});
  const std::string fails = "TLS handshake failed";
  EXPECT_THAT(failure(server, "localhost", files.authority), Not(HasSubstr(fails)));
  EXPECT_THAT(failure(server, "localhost", files.other_authority), HasSubstr(fails));
  EXPECT_THAT(failure(server, "127.0.0.1", files.authority), HasSubstr(fails));
}

TEST_F(MongoDbTls, AnOlderTlsThan12IsRejected) {
  const Certificates files(folder_, "DNS:localhost");
  const TlsServer old(files, {"-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"});
  EXPECT_THAT(failure(old, "localhost", files.authority), HasSubstr("TLS handshake failed"));
}

TEST(MongoDbConnection, NoProgramInheritsIt) {
  const FakeMongoServer server([](std::string_view) { return std::string(); });
  register_mongodb();
  const std::vector<int> before = inheritable_sockets();
  const Locks locks = Locks::connect(server.uri(), {.command_timeout = 5s});
  EXPECT_EQ(inheritable_sockets(), before);
}

}  // namespace
}  // namespace latchkey::tests
