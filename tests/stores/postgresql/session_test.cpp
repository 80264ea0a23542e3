// Tests that the server's session and libpq behave as locks need, whatever the configuration and
// the environment say.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "shared_server.hpp"
#include "stores/postgresql/session_settings.hpp"
#include "support/child.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using detail::postgresql::PostgresqlUri;

/// Settings of the clients' role, which the destructor resets.
class RoleSettings {
 public:
  RoleSettings() = default;
  RoleSettings(const RoleSettings&) = delete;
  RoleSettings& operator=(const RoleSettings&) = delete;
  ~RoleSettings() { admin_("ALTER ROLE plain RESET ALL"); }

  void set(const std::string& setting) { admin_("ALTER ROLE plain SET " + setting); }

 private:
  Sql admin_ = shared_server().sql();
};

TEST(PostgresqlSession, SettingsAreSetAndReadBack) {
  constexpr auto schema = detail::LockSchema::latchkey;
  Sql admin = shared_server().sql();
  admin("SET default_transaction_isolation = 'serializable'");
  admin("SET DateStyle = 'German'");
  const std::string differing = "SELECT " + detail::postgresql::differing_settings(schema, 2000ms);
  const std::string before = admin.one(differing);
  EXPECT_NE(before.find("default_transaction_isolation = serializable"), std::string::npos)
      << before;
  EXPECT_NE(before.find("search_path"), std::string::npos) << before;
  admin(detail::postgresql::set_settings(schema, 2000ms));
  EXPECT_EQ(admin.one(differing), "");
  EXPECT_EQ(admin.one("SHOW lock_timeout"), "1s");
  EXPECT_EQ(admin.one("SHOW statement_timeout"), "2s");
  EXPECT_EQ(admin.one("SHOW default_transaction_isolation"), "read committed");
  admin("SET row_security = on");
  EXPECT_EQ(admin.one(differing), "row_security = on");
}

TEST(PostgresqlSession, WhatTheRoleHasSetDoesNotDecide) {
  RoleSettings role;
  for (const char* const setting :
       {"default_transaction_isolation = 'serializable'", "statement_timeout = '1ms'",
        "lock_timeout = '1ms'", "DateStyle = 'German'", "TimeZone = 'Asia/Tokyo'",
        "search_path = 'nowhere'", "standard_conforming_strings = off", "row_security = on",
        "enable_indexscan = off"}) {
    role.set(setting);
  }
  register_postgresql();
  const Locks one = Locks::connect(shared_server().uri());
  const Locks other = Locks::connect(shared_server().uri());
  const std::string key = next_key("role's:");
  for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::WRITE}) {
    Hold hold = one.lock(key, type).acquire(0ms, 60s);
    EXPECT_FALSE(other.lock(key, type).try_acquire(0ms, 60s));
    EXPECT_TRUE(hold.release());
  }
}

// An acquire was refused by the server's words for each statement.
TEST(PostgresqlSession, ADatabaseThatAcceptsNoWritesIsUnavailable) {
  RoleSettings role;
  register_postgresql();
  const Locks locks = Locks::connect(shared_server().uri());
  role.set("default_transaction_read_only = on");
  std::string why;
  try {
    static_cast<void>(connect_backend(shared_server().uri()));
  } catch (const BackendUnavailable& error) {
    why = error.what();
  }
  EXPECT_NE(why.find("accepts no writes"), std::string::npos) << why;
}

// libpq takes PGHOSTADDR for a URI that names a socket, and so locked on another server.
TEST(PostgresqlSession, TheEnvironmentNamesNoOtherServer) {
  EXPECT_EQ(in_child([](Findings& findings) {
              ::setenv("PGHOSTADDR", "127.0.0.1", 1);
              ::setenv("PGHOST", "192.0.2.1", 1);
              ::setenv("PGPORT", "1", 1);
              ::setenv("PGTARGETSESSIONATTRS", "read-only", 1);
              ::setenv("PGOPTIONS", "-c search_path=nowhere -c row_security=on", 1);
              ::setenv("PGTZ", "Asia/Tokyo", 1);
              ::setenv("PGCLIENTENCODING", "LATIN1", 1);
              Sql admin("user=admin dbname=locks target_session_attrs=any host=" +
                        shared_server().folder().string() +
                        ",x hostaddr=, port=" + std::to_string(shared_server().port()) + ",1");
              const auto sessions = [&] {
                return admin.one(
                    "SELECT count(*) FROM pg_stat_activity WHERE usename = 'plain' AND "
                    "client_addr IS NULL");
              };
              const std::string before = sessions();
              const auto backend = connect_backend(shared_server().socket_uri());
              CHILD_EXPECT(findings, sessions() != before);
              CHILD_EXPECT(findings, connect_backend(shared_server().uri()) != nullptr);
            }),
            "");
}

TEST(PostgresqlSession, AStartedProgramInheritsNoConnection) {
  const auto over_tcp = connect_backend(shared_server().uri());
  const auto over_socket = connect_backend(shared_server().socket_uri());
  int sockets = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed;
    const std::string target = std::filesystem::read_symlink(each.path(), closed).string();
    if (!target.starts_with("socket:")) continue;
    const int flags = ::fcntl(std::stoi(each.path().filename()), F_GETFD);
    EXPECT_NE(flags & FD_CLOEXEC, 0) << target;
    ++sockets;
  }
  EXPECT_GE(sockets, 2);
}

}  // namespace
}  // namespace latchkey::tests
