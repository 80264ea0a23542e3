// Replies that are too long, or not what was asked for: the process goes on.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "stores/mysql/mysql_server.hpp"
#include "stores/mysql/mysql_support.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using testing::Probe;

/// A database of latchkey's in which procedures are replaced.
class MysqlReply : public ::testing::Test {
 protected:
  MysqlReply() {
    mysql_server().session("mysql")(
        "CREATE OR REPLACE DATABASE lies; GRANT ALL ON lies.* TO locks");
    mysql_server().create("lies");
  }
  static void replace(const std::string& procedure, const std::string& parameters,
                      const std::string& body) {
    mysql_server().session("lies")("DROP PROCEDURE " + procedure + "; CREATE PROCEDURE " +
                                   procedure + "(" + parameters + ") " + body);
  }
  static void expect_malformed(const Outcome& outcome) {
    EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
    EXPECT_FALSE(outcome.never_ran);
    EXPECT_NE(outcome.reason.find("not what was asked for"), std::string::npos) << outcome.reason;
  }
  const std::string uri_ = mysql_server().uri("lies");
  const Options options_{.command_timeout = 5s};
};

constexpr const char* acquire_parameters =
    "a VARBINARY(1024), b INT, c VARBINARY(64), d BIGINT, e BIGINT, f INT";

// The thread that read such a reply ended the process.
TEST_F(MysqlReply, RowsOfAnotherShapeAreAnUnknownOutcome) {
  Probe probe(make_mysql(uri_, options_), options_);
  for (const std::string body : {"SELECT 0", "SELECT 0,1,2,3,4 FROM DUAL WHERE FALSE",
                                 "SELECT 0,1,2,3,4 UNION SELECT 1,1,1,1,1", "DO 0",
                                 "BEGIN SELECT 0; SELECT 1; END", "SELECT 0,1,2,3,4,5"}) {
    SCOPED_TRACE(body);
    replace("latchkey_acquire", acquire_parameters, body);
    expect_malformed(probe.acquire("k", LockType::FENCED, probe.fresh_id(), 1s));
    EXPECT_EQ(probe.send(Verb::verify, "k").kind, Outcome::Kind::gone) << "no new connection";
  }
}

TEST_F(MysqlReply, CellsOfAnyTextGrantNothing) {
  Probe probe(make_mysql(uri_, options_), options_);
  for (const std::string cells :
       {"'','','','',''", "NULL,NULL,NULL,NULL,NULL", "'00',1,2,3,4", "'-1',1,2,3,4",
        "1,-1,-9223372036854775808,'x',-9223372036854775808",
        "1,18446744073709551615,9223372036854775807,REPEAT('x',100000),9223372036854775807"}) {
    replace("latchkey_acquire", acquire_parameters, "SELECT " + cells);
    for (const LockType type : {LockType::FENCED, LockType::READ}) {
      EXPECT_EQ(probe.acquire("k", type, probe.fresh_id(), 1s).kind, Outcome::Kind::busy) << cells;
    }
  }
}

// NULL was the fencing token 0.
TEST_F(MysqlReply, AGrantWithoutAnExactTokenIsUnknown) {
  Probe probe(make_mysql(uri_, options_), options_);
  for (const std::string token : {"NULL", "''", "'x'", "'7x'", "-1", "18446744073709551616"}) {
    SCOPED_TRACE(token);
    replace("latchkey_acquire", acquire_parameters, "SELECT 0," + token + ",0,'',0");
    expect_malformed(probe.acquire("k", LockType::FENCED, probe.fresh_id(), 1s));
  }
}

TEST_F(MysqlReply, ATokenOfAWriteOrAFairIsReadAsStrictly) {
  Request request;
  request.verb = Verb::acquire;
  request.key = "k";
  request.lease = 1s;
  request.fenced = true;
  const auto acquire = [&](const std::string& body) {
    replace("latchkey_give_token", "a VARBINARY(1024), b INT, c VARBINARY(64), d INT", body);
    Probe probe(make_mysql(uri_, options_), options_);
    request.id = probe.fresh_id();
    const Outcome outcome = probe.send(request);
    mysql_server().session("lies")("DELETE FROM latchkey_locks");
    return outcome;
  };
  for (const LockType type : {LockType::WRITE, LockType::FAIR}) {
    request.type = type;
    for (const std::string body :
         {"SELECT NULL", "SELECT 'x'", "SELECT -1", "SELECT 0", "SELECT 7,7",
          "SELECT 7 UNION SELECT 8", "SELECT 7 FROM DUAL WHERE FALSE", "DO 0",
          "BEGIN SELECT 7; SELECT 8; END"}) {
      SCOPED_TRACE(body);
      expect_malformed(acquire(body));
    }
    EXPECT_EQ(acquire("SELECT 7").token, 7U);
  }
}

// NULL was taken for 0, which means that the permits are granted.
TEST_F(MysqlReply, PermitsAreGrantedByExactNumbersOnly) {
  Probe probe(make_mysql(uri_, options_), options_);
  const HoldId id = probe.fresh_id();
  for (const std::string cells : {"NULL,1,0,'',0", "'x',1,0,'',0", "'0x',1,0,'',0", "2,1,0,'',0",
                                  "0,NULL,0,'',0", "0,'x',0,'',0", "0,-1,0,'',0"}) {
    SCOPED_TRACE(cells);
    replace("latchkey_acquire_permits",
            "a VARBINARY(1024), b VARBINARY(64), c BIGINT, d BIGINT, e BIGINT UNSIGNED",
            "SELECT " + cells);
    expect_malformed(probe.acquire("k", LockType::PERMIT, id, 1s));
  }
  for (const std::string cell : {"NULL", "'x'", "1"}) {
    SCOPED_TRACE(cell);
    replace("latchkey_release_permits", "a VARBINARY(1024), b VARBINARY(64)", "SELECT " + cell);
    expect_malformed(probe.send(Verb::release, "k", LockType::PERMIT, id));
  }
}

TEST_F(MysqlReply, ATokenBeyondSignedNumbersIsThatToken) {
  Probe probe(make_mysql(uri_, options_), options_);
  replace("latchkey_acquire", acquire_parameters, "SELECT 0,18446744073709551615,0,'',0");
  const Outcome outcome = probe.acquire("k", LockType::FENCED, probe.fresh_id(), 1s);
  EXPECT_EQ(outcome.token, 18446744073709551615U);
}

TEST_F(MysqlReply, AReplyOfMoreThan64MebibytesEndsTheConnection) {
  register_mysql();
  const Locks locks = Locks::connect(uri_, options_);
  replace("latchkey_list", "a VARBINARY(1024), b BIGINT UNSIGNED, c BIGINT UNSIGNED",
          "SELECT REPEAT('k',1000000), 1 FROM seq_1_to_65");
  EXPECT_EQ(locks.list("*").size(), 65U);
  replace("latchkey_list", "a VARBINARY(1024), b BIGINT UNSIGNED, c BIGINT UNSIGNED",
          "SELECT REPEAT('k',1000000), 1 FROM seq_1_to_100000");
  try {
    static_cast<void>(locks.list("*"));
    FAIL() << "no error";
  } catch (const BackendUnavailable& error) {
    EXPECT_NE(std::string(error.what()).find("more than 64 MiB"), std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(locks.lock("k").try_acquire(5s));
}

TEST_F(MysqlReply, ARowOfMoreThan16MebibytesEndsTheConnection) {
  register_mysql();
  const Locks locks = Locks::connect(uri_, options_);
  mysql_server().session("mysql")("SET GLOBAL max_allowed_packet=1073741824");
  EXPECT_TRUE(locks.lock("k").try_acquire());
  EXPECT_GT(mysql_server().disconnect_users(), 0);
  replace("latchkey_list", "a VARBINARY(1024), b BIGINT UNSIGNED, c BIGINT UNSIGNED",
          "SELECT REPEAT('k',17000000), 1");
  EXPECT_THROW(static_cast<void>(locks.list("*")), BackendUnavailable);
  EXPECT_TRUE(locks.lock("k").try_acquire(5s));
}

}  // namespace
}  // namespace latchkey::tests
