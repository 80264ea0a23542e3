// Tests of what tls_ca has libpq verify, and of when libpq reads its files.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "shared_server.hpp"
#include "support/polling.hpp"
#include "support/servers/certificates.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

/// A server with TLS, whose certificate is for localhost.
class PostgresqlTls : public ::testing::Test {
 protected:
  PostgresqlTls() {
    std::filesystem::create_directory(folder_);
    std::filesystem::permissions(folder_, std::filesystem::perms(0755));
    files_.emplace(folder_, "DNS:localhost");
    serve();
    Sql sql = server_.sql();
    sql("ALTER SYSTEM SET ssl_cert_file = '" + files_->server + "'");
    sql("ALTER SYSTEM SET ssl_key_file = '" + files_->server_key + "'");
    sql("ALTER SYSTEM SET ssl = on");
    sql("SELECT pg_reload_conf()");
    await("a server with TLS",
          [&] { return server_.sql().one("SHOW ssl") == "on" ? "" : "not yet"; });
  }
  /// The server's user owns its key.
  void serve() const {
    struct stat owner{};
    if (::stat((server_.folder() / "data").c_str(), &owner) != 0 ||
        ::chown(files_->server_key.c_str(), owner.st_uid, owner.st_gid) != 0 ||
        ::chmod(files_->server_key.c_str(), 0600) != 0 ||
        ::chmod(files_->server.c_str(), 0644) != 0) {
      throw std::runtime_error("the server cannot get its key");
    }
  }
  [[nodiscard]] std::string uri(const std::string& host, const std::string& authority) const {
    return "postgresql://plain:plain@" + host + ':' + std::to_string(server_.port()) +
           "/locks?tls_ca=" + authority;
  }
  [[nodiscard]] static std::string failure(const std::string& uri) {
    try {
      static_cast<void>(connect_backend(uri));
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  PostgresqlServer server_;
  const std::filesystem::path folder_ = server_.folder() / "tls";
  std::optional<Certificates> files_;
};

TEST_F(PostgresqlTls, VerifyFullChecksTheAuthorityAndTheHostName) {
  EXPECT_EQ(failure(uri("localhost", files_->authority)), "");
  const std::string other = failure(uri("localhost", files_->other_authority));
  EXPECT_NE(other.find("certificate verify failed"), std::string::npos) << other;
  const std::string name = failure(uri("127.0.0.1", files_->authority));
  EXPECT_NE(name.find("certificate"), std::string::npos) << name;
}

TEST_F(PostgresqlTls, AnOlderTlsThan12IsRejected) {
  Sql sql = server_.sql();
  sql("ALTER SYSTEM SET ssl_min_protocol_version = 'TLSv1'");
  sql("ALTER SYSTEM SET ssl_max_protocol_version = 'TLSv1.1'");
  sql("ALTER SYSTEM SET ssl_ciphers = 'DEFAULT@SECLEVEL=0'");
  sql("SELECT pg_reload_conf()");
  await("the setting", [&] {
    return server_.sql().one("SHOW ssl_max_protocol_version") == "TLSv1.1" ? "" : "not yet";
  });
  const std::string why = failure(uri("localhost", files_->authority));
  EXPECT_NE(why.find("protocol"), std::string::npos) << why;
}

TEST_F(PostgresqlTls, RenewedCertificatesAreReadByTheNextConnection) {
  register_postgresql();
  const Locks locks = Locks::connect(uri("localhost", files_->authority), {.command_timeout = 5s});
  Hold hold = locks.lock("key").acquire(1s, 60s);
  files_->renew();
  serve();
  server_.sql()("SELECT pg_reload_conf()");
  server_.sql()("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plain'");
  await("an extension by the next connection", [&]() -> std::string {
    try {
      return hold.extend(60s) ? "" : "it is lost";
    } catch (const BackendUnavailable& error) {
      return error.what();
    }
  });
  EXPECT_TRUE(hold.release());
}

}  // namespace
}  // namespace latchkey::tests
