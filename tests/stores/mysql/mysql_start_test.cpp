// Tests of the errors at the start of mysql://, for a URI or a server that does not fit.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "stores/mysql/handshake.hpp"
#include "stores/mysql/mysql_server.hpp"
#include "stores/mysql/mysql_support.hpp"
#include "stores/mysql/uri.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using detail::mysql::MysqlUri;

template <class Error>
std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

template <class Error>
std::string start_error(const std::string& uri) {
  return refusal<Error>([&] { static_cast<void>(make_mysql(uri, {.command_timeout = 500ms})); });
}

std::string uri_error(const std::string& uri) {
  return refusal<std::invalid_argument>([&] { static_cast<void>(MysqlUri::parse(uri)); });
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A database of its own, with its users' rights.
std::string make_database(const std::string& name) {
  MysqlSession root = mysql_server().session("mysql");
  root("CREATE DATABASE " + name + "; GRANT ALL ON " + name +
       ".* TO owner; GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON " + name + ".* TO locks");
  return name;
}

TEST(MysqlUri, PartsAreDecoded) {
  const MysqlUri uri = MysqlUri::parse(
      "mysql://me:p%40ss%3A@db.example:3307/my%20app?create=yes&poll=5ms&tls_ca=%2Fca.pem");
  EXPECT_EQ(uri.user, "me");
  EXPECT_EQ(uri.password, "p@ss:");
  EXPECT_EQ(uri.host.host, "db.example");
  EXPECT_EQ(uri.host.port, 3307);
  EXPECT_EQ(uri.database, "my app");
  EXPECT_TRUE(uri.create);
  EXPECT_EQ(uri.poll, 5ms);
  EXPECT_EQ(uri.tls.ca, "/ca.pem");
  EXPECT_EQ(uri.describe(), "mysql://db.example:3307/my app");
}

TEST(MysqlUri, MistakesAreOneSentenceWithTheCure) {
  EXPECT_TRUE(contains(uri_error("mysql://h"), "missing database"));
  EXPECT_TRUE(contains(uri_error("mysql://h:0/app"), "invalid port '0'"));
  EXPECT_TRUE(contains(uri_error("mysql://h/app?pol=1ms"), "unknown option 'pol'"));
  EXPECT_TRUE(contains(uri_error("mysql://h/app?poll=2s"), "'2s' of the option 'poll'"));
  EXPECT_TRUE(contains(uri_error("mysql://h/app?create=maybe"), "expected yes or no"));
  EXPECT_TRUE(contains(uri_error("mysql://h/app?schema=quartz"), "'quartz'"));
  EXPECT_TRUE(contains(uri_error("mysql://h/app?table=a-b"), "'a-b'"));
  EXPECT_TRUE(contains(uri_error("mysql://h/app?socket=%2Fs"), "invalid host 'h'"));
  EXPECT_TRUE(contains(uri_error("mysql://h/app?tls_key=k"),
                       "the option 'tls_key' of the MySQL URI needs 'tls_cert'"));
  EXPECT_TRUE(contains(uri_error("mysql://h/app?ssl_ca=x"),
                       "the option 'ssl_ca' of the MySQL URI is now called 'tls_ca'"));
  EXPECT_TRUE(contains(uri_error("mysql://h/app?ssl_cert=x"), "is now called 'tls_cert'"));
  EXPECT_TRUE(contains(uri_error("mysql://h/app?ssl_key=x"), "is now called 'tls_key'"));
  EXPECT_TRUE(contains(uri_error("mysql://h/app?tls_server_name=x"),
                       "unknown option 'tls_server_name' in the MySQL URI; expected one of create, "
                       "schema, table, poll, socket, tls_ca, tls_cert, tls_key"));
  EXPECT_TRUE(contains(uri_error("mysql://h/app?schema=shedlock&create=yes"), "leave it out"));
}

TEST(MysqlStart, AProgramRegistersTheSchemeAndConnects) {
  const std::string uri = mysql_server().uri();
  latchkey::register_mysql();               // of <latchkey/mysql.hpp>
  const Locks locks = Locks::connect(uri);  // such as mysql://app:secret@db.example:3306/shop
  EXPECT_TRUE(locks.lock(next_key()).try_acquire());
}

TEST(MysqlStart, AWrongPasswordIsRefusedWithoutNamingTheUser) {
  const std::string port = std::to_string(mysql_server().port());
  const std::string said =
      start_error<BackendRefused>("mysql://locks:wrong@127.0.0.1:" + port + "/app");
  EXPECT_TRUE(contains(said, "rejects the user or the password")) << said;
  EXPECT_FALSE(contains(said, "locks'")) << said;
  EXPECT_FALSE(contains(said, "wrong")) << said;
}

TEST(MysqlStart, AMissingDatabaseIsRefused) {
  const std::string port = std::to_string(mysql_server().port());
  const std::string said =
      start_error<BackendRefused>("mysql://root@127.0.0.1:" + port + "/nowhere");
  EXPECT_TRUE(contains(said, "database")) << said;
}

TEST(MysqlStart, MissingTablesAreRefusedWithTheCure) {
  const std::string uri = mysql_server().owner_uri(make_database("empty"));
  const std::string said = start_error<BackendRefused>(uri);
  EXPECT_TRUE(contains(said, "are missing in the database")) << said;
  EXPECT_TRUE(contains(said, "latchkey ddl mysql | mysql")) << said;
  EXPECT_TRUE(contains(said, "create=yes")) << said;
}

TEST(MysqlStart, CreateMakesTheTablesOnce) {
  const std::string uri = mysql_server().owner_uri(make_database("made")) + "?create=yes";
  register_mysql();
  for (int time = 0; time < 2; ++time) {
    Locks locks = Locks::connect(uri);
    EXPECT_TRUE(locks.lock("k").try_acquire());
  }
}

TEST(MysqlStart, CreateWithoutThePermissionIsRefused) {
  const std::string uri = mysql_server().uri(make_database("forbidden")) + "?create=yes";
  const std::string said = start_error<BackendRefused>(uri);
  EXPECT_TRUE(contains(said, "privilege") || contains(said, "permission")) << said;
  EXPECT_FALSE(contains(said, "'locks'")) << said;
}

TEST(MysqlStart, AnotherVersionOfTheTablesIsRefused) {
  const std::string name = make_database("other");
  mysql_server().create(name);
  mysql_server().session(name)(
      "DROP PROCEDURE latchkey_schema; CREATE PROCEDURE latchkey_schema() SELECT 99 AS version");
  const std::string said = start_error<BackendRefused>(mysql_server().uri(name));
  EXPECT_TRUE(contains(said, "of another version of latchkey")) << said;
}

TEST(MysqlStart, AUserWithoutExecuteIsRefused) {
  mysql_server().session("mysql")(
      "CREATE USER IF NOT EXISTS reader IDENTIFIED BY 'r'; GRANT SELECT ON app.* TO reader");
  const std::string port = std::to_string(mysql_server().port());
  const std::string said =
      start_error<BackendRefused>("mysql://reader:r@127.0.0.1:" + port + "/app");
  EXPECT_TRUE(contains(said, "EXECUTE ON the database")) << said;
  EXPECT_FALSE(contains(said, "reader")) << said;
}

TEST(MysqlStart, AServerThatDoesNotListenIsUnavailable) {
  const std::string said = start_error<BackendUnavailable>("mysql://me@127.0.0.1:1/app");
  EXPECT_TRUE(contains(said, "mysql://127.0.0.1:1/app")) << said;
  EXPECT_FALSE(contains(said, "me@")) << said;
}

TEST(MysqlStart, AReadOnlyServerIsUnavailable) {
  MysqlSession root = mysql_server().session();
  root("SET GLOBAL read_only=1");
  const std::string said = start_error<BackendUnavailable>(mysql_server().uri());
  root("SET GLOBAL read_only=0");
  EXPECT_TRUE(contains(said, "read-only")) << said;
}

TEST(MysqlStart, VersionsOfServers) {
  using detail::mysql::why_not;
  EXPECT_EQ(why_not("10.11.19-MariaDB-0+deb12u1"), "");
  EXPECT_EQ(why_not("10.6.0-MariaDB"), "");
  EXPECT_EQ(why_not("8.0.29"), "");
  EXPECT_EQ(why_not("8.4.3-commercial"), "");
  EXPECT_NE(why_not("10.5.23-MariaDB"), "");
  EXPECT_NE(why_not("8.0.28"), "");
  EXPECT_NE(why_not("5.7.44-log"), "");
}

TEST(MysqlStart, TheDdlMayRunTwice) {
  const std::string name = make_database("twice");
  mysql_server().create(name);
  mysql_server().create(name);
  EXPECT_EQ(mysql_server().session(name).one("CALL latchkey_schema()"), "1");
}

}  // namespace
}  // namespace latchkey::tests
