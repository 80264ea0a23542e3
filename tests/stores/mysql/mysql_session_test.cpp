// After a lost connection a client ends its own session, and no other.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <latchkey/locks.hpp>

#include "stores/mysql/handshake.hpp"
#include "stores/mysql/mysql_server.hpp"
#include "stores/mysql/mysql_support.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using detail::mysql::Handshake;
using detail::mysql::Layout;
using detail::mysql::MysqlUri;
using detail::mysql::Rows;
using detail::mysql::ServerSession;
using detail::mysql::SqlError;
using Next = Handshake::Next;
using Results = std::deque<Rows>;

class MysqlHandshake : public ::testing::Test {
 protected:
  static Results settings(const std::string& id, const std::string& node = {}) {
    const Rows values{{"autocommit", "ON"},
                      {"completion_type", "NO_CHAIN"},
                      {"innodb_lock_wait_timeout", "1"},
                      {"lock_wait_timeout", "1"},
                      {"sql_mode", "STRICT_ALL_TABLES"},
                      {"sql_safe_updates", "ON"},
                      {"sql_select_limit", "18446744073709551615"},
                      {"tx_isolation", "READ-COMMITTED"},
                      {"tx_read_only", "OFF"},
                      {"unique_checks", "ON"}};
    const Rows nodes = node.empty() ? Rows{} : Rows{{"wsrep_gcomm_uuid", node}};
    return {values, {{id, "10.11.2-MariaDB", "0"}}, nodes};
  }
  Next begin(const std::optional<ServerSession>& before, const std::string& node = {}) {
    handshake_.begin(before);
    return handshake_.read(settings("5", node), {});
  }
  Next read(const Results& results, unsigned error = 0) {
    return handshake_.read(results, SqlError{error, "no"});
  }

  const std::unique_ptr<Layout> layout_ = Layout::make(MysqlUri::parse("mysql://h/app"));
  Handshake handshake_{*layout_, false, 2s};
};

TEST_F(MysqlHandshake, ASessionThatHasTheMarkIsKilledOnceAndAwaited) {
  EXPECT_EQ(begin(std::nullopt), Next::send);
  const std::string claim = handshake_.text();
  EXPECT_TRUE(claim.starts_with("SELECT GET_LOCK('latchkey:")) << claim;
  EXPECT_EQ(read({{{"0", "17"}}}), Next::send);
  EXPECT_EQ(handshake_.text(), "KILL 17");
  EXPECT_EQ(read({}), Next::send);
  EXPECT_EQ(handshake_.text(), claim);
  EXPECT_EQ(read({{{"0", "17"}}}), Next::wait);
  EXPECT_EQ(handshake_.text(), claim);
  EXPECT_EQ(read({{{"0", ""}}}), Next::wait) << "it has just ended";
  EXPECT_EQ(read({{{"1", "5"}}}), Next::send);
  EXPECT_EQ(handshake_.text(), "CALL latchkey_schema()");
}

// The number and the name of the last session were those of a stranger's at another server.
TEST_F(MysqlHandshake, WithoutTheMarkNoSessionIsKilled) {
  EXPECT_EQ(begin(ServerSession{.connection = 17, .node = {}}), Next::send);
  EXPECT_EQ(read({{{"1", "5"}}}), Next::send);
  EXPECT_EQ(handshake_.text(), "CALL latchkey_schema()");
}

TEST_F(MysqlHandshake, AnotherClientHasAnotherMark) {
  Handshake other(*layout_, false, 2s);
  other.begin(std::nullopt);
  EXPECT_EQ(other.read(settings("5"), {}), Next::send);
  EXPECT_EQ(begin(std::nullopt), Next::send);
  const std::string before = handshake_.text();
  EXPECT_NE(other.text(), before);
  handshake_.renew_mark();
  EXPECT_NE(handshake_.text(), before) << "a forked child has the mark of its parent";
}

TEST_F(MysqlHandshake, InAClusterThatRefusesGetLockTheNodeTellsSessionsApart) {
  const ServerSession before{.connection = 17, .node = "run-1"};
  EXPECT_EQ(begin(before, "run-1"), Next::send);
  EXPECT_EQ(read({}, 1105), Next::send);
  EXPECT_EQ(handshake_.text(), "KILL 17");
  EXPECT_EQ(read({}), Next::send);
  EXPECT_NE(handshake_.text().find("PROCESSLIST WHERE ID=17"), std::string::npos);
  EXPECT_EQ(read({{{"1"}}}), Next::wait);
  EXPECT_EQ(read({{{"0"}}}), Next::send);
  EXPECT_EQ(handshake_.text(), "CALL latchkey_schema()");

  EXPECT_EQ(begin(before, "run-2"), Next::send);
  EXPECT_EQ(read({}, 1235), Next::send);
  EXPECT_EQ(handshake_.text(), "CALL latchkey_schema()");

  EXPECT_EQ(begin(before), Next::send);
  EXPECT_EQ(read({}, 1235), Next::failed) << "no cluster, and no mark";
}

TEST_F(MysqlHandshake, MalformedRepliesAreFailures) {
  for (const Results& results :
       {Results{}, Results{{}}, Results{{}, {}, {}}, Results{{{"a"}}, {{"5"}}, {{"x"}}},
        Results{{{"a", "b"}}, {{"5", "10.11.2-MariaDB"}}, {}}}) {
    handshake_.begin(std::nullopt);
    EXPECT_EQ(handshake_.read(results, {}), Next::failed);
    EXPECT_NE(handshake_.failure().text.find("not what was asked for"), std::string::npos);
  }
  for (const Results& results : {Results{}, Results{{}}, Results{{{"1"}}}}) {
    EXPECT_EQ(begin(std::nullopt), Next::send);
    EXPECT_EQ(read(results), Next::failed);
  }
  for (const Results& results : {Results{}, Results{{}}, Results{{{"1", "2"}}}}) {
    EXPECT_EQ(begin(std::nullopt), Next::send);
    EXPECT_EQ(read({{{"1", "5"}}}), Next::send);
    EXPECT_EQ(read(results), Next::failed);
  }
}

/// A path that leads to the socket of one server, and then to that of another one.
class MovingSocket {
 public:
  explicit MovingSocket(const std::string& socket) { lead_to(socket); }
  MovingSocket(const MovingSocket&) = delete;
  MovingSocket& operator=(const MovingSocket&) = delete;
  ~MovingSocket() { std::filesystem::remove(path_); }

  void lead_to(const std::string& socket) const {
    std::filesystem::remove(path_);
    std::filesystem::create_symlink(socket, path_);
  }
  [[nodiscard]] std::string uri() const {
    std::string encoded;
    for (const char each : path_.string()) {
      encoded += each == '/' ? std::string("%2F") : std::string{each};
    }
    return "mysql://owner:owner@localhost/app?socket=" + encoded;
  }

 private:
  const std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                      ("latchkey-mysql-" + std::to_string(::getpid()) + ".sock");
};

/// The next number of a session at a server.
std::int64_t next_id(const MysqlServer& server) {
  return std::stoll(MysqlSession(server.socket(), "root", "mysql").one("SELECT CONNECTION_ID()")) +
         1;
}

TEST(MysqlFailover, TheSessionsOfTheNextServerAreLeftAlone) {
  MysqlServer& first = mysql_server();
  const MysqlServer second;
  const std::int64_t later = next_id(second) + 5;
  while (next_id(first) < later) {
  }
  const MovingSocket socket(first.socket());
  register_mysql();
  const Locks locks = Locks::connect(socket.uri());
  EXPECT_TRUE(locks.lock("k").try_acquire());
  const std::int64_t mine = std::stoll(first.session("mysql").one(
      "SELECT MAX(id) FROM information_schema.PROCESSLIST WHERE user='owner'"));
  while (next_id(second) < mine) {
  }
  MysqlSession stranger(second.socket(), "root", "mysql");
  ASSERT_EQ(stranger.one("SELECT CONNECTION_ID()"), std::to_string(mine));
  socket.lead_to(second.socket());
  EXPECT_GT(first.disconnect_users(), 0);
  EXPECT_TRUE(locks.lock("k").try_acquire(10s));
  EXPECT_EQ(stranger("SHOW GLOBAL STATUS LIKE 'Com_kill'").at(0).at(1), "0");
}

}  // namespace
}  // namespace latchkey::tests
