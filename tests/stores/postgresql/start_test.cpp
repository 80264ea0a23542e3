// Tests of URIs, servers and databases that cannot be used: each leads to one sentence.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <latchkey/error.hpp>

#include "shared_server.hpp"
#include "stores/postgresql/glob_expression.hpp"
#include "stores/postgresql/uri.hpp"

namespace latchkey::tests {
namespace {

using detail::postgresql::PostgresqlUri;

std::string refusal_of_uri(const std::string& uri) {
  try {
    static_cast<void>(PostgresqlUri::parse(uri));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

template <class Error>
std::string failure_of(const std::string& uri) {
  try {
    static_cast<void>(connect_backend(uri));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(PostgresqlUri, PartsAreDecoded) {
  const PostgresqlUri uri = PostgresqlUri::parse(
      "postgresql://me%40here:pass%2Fword@one:5433,two/data%20base?sslmode=require&create=yes");
  EXPECT_EQ(uri.user, "me@here");
  EXPECT_EQ(uri.password, "pass/word");
  EXPECT_EQ(uri.database, "data base");
  ASSERT_EQ(uri.hosts.size(), 2U);
  EXPECT_EQ(uri.hosts[0].port, 5433);
  EXPECT_EQ(uri.hosts[1].port, 5432);
  EXPECT_TRUE(uri.create);
  EXPECT_EQ(uri.parameters.size(), 1U);
  EXPECT_EQ(uri.describe(), "postgresql://one:5433,two:5432/data base");
}

/// `name=value` of all that libpq is given as it is.
std::string passed_on(const std::string& uri) {
  std::string text;
  for (const auto& [name, value] : PostgresqlUri::parse(uri).parameters) {
    text += (text.empty() ? "" : " ") + name + '=' + value;
  }
  return text;
}

TEST(PostgresqlUri, TlsOptionsAreGivenToLibpqByItsNames) {
  EXPECT_EQ(passed_on("postgresql://h/a?tls_ca=/ca&tls_cert=/c&tls_key=/k"),
            "sslmode=verify-full sslrootcert=/ca sslcert=/c sslkey=/k");
  EXPECT_EQ(passed_on("postgresql://h/a?tls_ca=/ca&tls_cert=/both"),
            "sslmode=verify-full sslrootcert=/ca sslcert=/both sslkey=/both");
  EXPECT_EQ(passed_on("postgresql://h/a?tls_ca=/ca"), "sslmode=verify-full sslrootcert=/ca");
  EXPECT_EQ(passed_on("postgresql://h/a?sslmode=require&sslrootcert=/ca"),
            "sslmode=require sslrootcert=/ca");
  EXPECT_EQ(passed_on("postgresql://h/a"), "");
  expect_contains(refusal_of_uri("postgresql://h/a?sslmode=require&tls_ca=/ca"),
                  "the option 'sslmode' of the PostgreSQL URI is libpq's; beside tls_ca");
  expect_contains(refusal_of_uri("postgresql://h/a?tls_key=/k"),
                  "the option 'tls_key' of the PostgreSQL URI needs 'tls_cert'");
}

TEST(PostgresqlUri, TheFolderOfASocketIsAHost) {
  EXPECT_EQ(PostgresqlUri::parse("postgresql:///locks?host=/run/postgresql").hosts[0].host,
            "/run/postgresql");
  EXPECT_EQ(PostgresqlUri::parse("postgresql://%2Frun%2Fpg:5433/locks").hosts[0].host, "/run/pg");
}

TEST(PostgresqlUri, AMistakeIsNamed) {
  expect_contains(refusal_of_uri("postgresql:///locks"), "missing host");
  expect_contains(refusal_of_uri("postgresql://h/a/b"), "'a/b'");
  expect_contains(refusal_of_uri("postgresql://h/a?tabel=x"), "'tabel'");
  expect_contains(refusal_of_uri("postgresql://h/a?schema=quartz"), "'quartz'");
  expect_contains(refusal_of_uri("postgresql://h/a?schema=shedlock&table=x;y"), "'x;y'");
  expect_contains(refusal_of_uri("postgresql://h/a?table=x"), "schema=shedlock");
  expect_contains(refusal_of_uri("postgresql://h/a?schema=shedlock&create=yes"), "create=yes");
  expect_contains(refusal_of_uri("postgresql://h:70000/a"), "'70000'");
}

TEST(PostgresqlGlob, BecomesARegularExpression) {
  using detail::postgresql::glob_expression;
  EXPECT_EQ(glob_expression("a*b?"), "^a.*b.$");
  EXPECT_EQ(glob_expression("[a-c_][^x]"), "^[a-c_][^x]$");
  EXPECT_EQ(glob_expression("a.b\\*"), "^a\\.b\\*$");
}

TEST(PostgresqlStart, BadCredentialsAreRefusedWithoutNamingThem) {
  const std::string why =
      failure_of<BackendRefused>(shared_server().uri_of("plain:wrong-word", "locks"));
  expect_contains(why, "rejects the user or the password");
  EXPECT_EQ(why.find("wrong-word"), std::string::npos) << why;
  EXPECT_EQ(why.find("'plain'"), std::string::npos) << why;
}

TEST(PostgresqlStart, AMissingDatabaseIsNamed) {
  expect_contains(failure_of<BackendRefused>(shared_server().uri_of("plain:plain", "absent")),
                  "no such database");
}

TEST(PostgresqlStart, MissingTablesAreRefusedWithTheCure) {
  const std::string why =
      failure_of<BackendRefused>(shared_server().uri_of("plain:plain", "postgres"));
  expect_contains(why, "latchkey ddl postgresql");
  expect_contains(why, "create=yes");
  expect_contains(failure_of<BackendRefused>(shared_server().uri_of("plain:plain", "postgres") +
                                             "?schema=shedlock"),
                  "lacks ShedLock's table shedlock");
}

TEST(PostgresqlStart, MissingPermissionsAreRefused) {
  expect_contains(failure_of<BackendRefused>(shared_server().uri_of("stranger:stranger", "locks")),
                  "docs/stores/postgresql.md");
  expect_contains(failure_of<BackendRefused>(shared_server().uri_of("stranger:stranger", "locks") +
                                             "?schema=shedlock"),
                  "SELECT, INSERT and UPDATE");
}

TEST(PostgresqlStart, AnotherVersionOfTheTablesIsRefused) {
  Sql admin = shared_server().sql();
  admin(
      "CREATE OR REPLACE FUNCTION latchkey.version() RETURNS integer LANGUAGE sql IMMUTABLE AS "
      "'SELECT 99'");
  const std::string why = failure_of<BackendRefused>(shared_server().uri());
  admin(
      "CREATE OR REPLACE FUNCTION latchkey.version() RETURNS integer LANGUAGE sql IMMUTABLE AS "
      "'SELECT 1'");
  expect_contains(why, "version 99");
}

TEST(PostgresqlStart, AnotherTableInShedlocksPlaceIsRefused) {
  Sql admin = shared_server().sql();
  admin("CREATE TABLE IF NOT EXISTS other(name text)");
  admin("GRANT ALL ON other TO plain");
  expect_contains(failure_of<BackendRefused>(shared_server().uri("?schema=shedlock&table=other")),
                  "not ShedLock's");
}

TEST(PostgresqlStart, CreateMakesTheTablesOnce) {
  Sql admin = shared_server().sql("postgres");
  admin("CREATE DATABASE fresh OWNER plain");
  const std::string uri = shared_server().uri_of("plain:plain", "fresh") + "?create=yes";
  EXPECT_NE(connect_backend(uri), nullptr);
  EXPECT_NE(connect_backend(uri), nullptr);
  admin("DROP DATABASE fresh WITH (FORCE)");
}

TEST(PostgresqlStart, NothingThatListensIsUnavailable) {
  const std::string nowhere =
      "postgresql://127.0.0.1:" + std::to_string(PostgresqlServer::free_port()) + "/locks";
  expect_contains(failure_of<BackendUnavailable>(nowhere), "Connection refused");
  expect_contains(failure_of<BackendUnavailable>("postgresql://no-such-host.invalid/locks"),
                  "no address of 'no-such-host.invalid'");
}

TEST(PostgresqlStart, HostNamesAreLookedUp) {
  const std::string uri =
      "postgresql://plain:plain@localhost:" + std::to_string(shared_server().port()) + "/locks";
  EXPECT_NE(connect_backend(uri), nullptr);
}

}  // namespace
}  // namespace latchkey::tests
