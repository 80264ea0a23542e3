// The permissions that docs/stores/mysql.md names: enough for everything, and each of them needed.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <thread>
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

const Options options{.command_timeout = 5s};

/// A database that also has what the user of locks must not see.
class MysqlPermissions : public ::testing::Test {
 protected:
  MysqlPermissions() {
    root_("CREATE OR REPLACE DATABASE shop; CREATE OR REPLACE USER app IDENTIFIED BY 'p'");
    mysql_server().create("shop");
    root_(
        "CREATE TABLE shop.accounts (id INT); CREATE TABLE shop.shedlock(name VARCHAR(64) NOT "
        "NULL, lock_until DATETIME(3) NOT NULL, locked_at DATETIME(3) NOT NULL, locked_by "
        "VARCHAR(255) NOT NULL, PRIMARY KEY (name))");
  }

  /// The statements of the page.
  std::vector<std::string> grants() {
    std::vector<std::string> all{
        "GRANT SELECT, INSERT, UPDATE, DELETE ON shop.latchkey_locks TO app",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON shop.latchkey_members TO app",
        "GRANT SELECT, INSERT, UPDATE ON shop.latchkey_fences TO app"};
    for (const auto& row :
         root_("SELECT CONCAT('GRANT EXECUTE ON PROCEDURE shop.', ROUTINE_NAME, ' TO app') FROM "
               "information_schema.ROUTINES WHERE ROUTINE_SCHEMA='shop' AND ROUTINE_NAME LIKE "
               "'latchkey\\\\_%'")) {
      all.push_back(row.front());
    }
    return all;
  }
  [[nodiscard]] static std::string uri(const std::string& option = {}) {
    return "mysql://app:p@127.0.0.1:" + std::to_string(mysql_server().port()) + "/shop" + option;
  }

  /// Why requests of all kinds were refused, in empty tables.
  std::set<std::string> refusals() {
    root_("DELETE FROM shop.latchkey_locks; DELETE FROM shop.latchkey_members");
    std::set<std::string> all;
    const auto note = [&](const Outcome& outcome) {
      if (outcome.kind == Outcome::Kind::refused) all.insert(outcome.reason);
      if (outcome.kind == Outcome::Kind::unknown) all.insert("unknown: " + outcome.reason);
    };
    try {
      Probe probe(make_mysql(uri(), options), options);
      for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::READ,
                                  LockType::WRITE, LockType::FENCED, LockType::PERMIT}) {
        serve(probe, type, note);
      }
      const HoldId id = probe.fresh_id();
      Request write;
      write.verb = Verb::acquire;
      write.key = "d";
      write.type = LockType::WRITE;
      write.id = id;
      write.lease = 60s;
      write.fenced = true;
      note(probe.send(write));
      note(probe.downgrade("d", id, 60s));
      note(probe.send(Verb::force_release, "d"));
      ListPart part;
      part.budget = 10;
      std::vector<std::string> names;
      note(probe.list("*", part, names));
      LockInfo info;
      Request inspect;
      inspect.verb = Verb::inspect;
      inspect.key = "d";
      inspect.info = &info;
      note(probe.send(inspect));
    } catch (const BackendRefused& error) {
      all.insert(error.what());
    }
    return all;
  }

  template <class Note>
  static void serve(Probe& probe, LockType type, Note note) {
    const auto request = [&](Verb verb, const HoldId& id) {
      Request made;
      made.verb = verb;
      made.key = to_string(type);
      made.type = type;
      made.id = id;
      made.lease = 60s;
      made.queue_wait = 60s;
      made.permits = {.taken = 1, .total = 1};
      return made;
    };
    const HoldId id = probe.fresh_id(), waiter = probe.fresh_id();
    note(probe.send(request(Verb::acquire, id)));
    note(probe.send(request(Verb::acquire, waiter)));
    for (const Verb verb : {Verb::renew, Verb::verify, Verb::expire, Verb::release}) {
      note(probe.send(request(verb, id)));
    }
    note(probe.send(request(Verb::leave, waiter)));
    if (type != LockType::PERMIT) return;
    note(probe.send(request(Verb::resize, id)));
    note(probe.send(request(Verb::force_release, id)));
  }

  MysqlSession root_ = mysql_server().session("mysql");
};

TEST_F(MysqlPermissions, TheGrantsOfThePageAreEnoughAndGiveNoAccessToOtherTables) {
  for (const std::string& grant : grants()) root_(grant);
  EXPECT_EQ(refusals(), std::set<std::string>());
  EXPECT_EQ(root_.one("SELECT COUNT(*) FROM mysql.db WHERE User='app'"), "0");
  EXPECT_EQ(root_.one("SELECT COUNT(*) FROM mysql.tables_priv WHERE User='app'"), "3");
}

TEST_F(MysqlPermissions, EachGrantIsNeeded) {
  const std::vector<std::string> all = grants();
  ASSERT_EQ(all.size(), 3U + 22U);
  for (const std::string& left_out : all) {
    if (left_out.find("latchkey_sweep") != std::string::npos) continue;  // nobody waits for it
    SCOPED_TRACE("without " + left_out);
    root_("CREATE OR REPLACE USER app IDENTIFIED BY 'p'");
    for (const std::string& grant : all) {
      if (grant != left_out) root_(grant);
    }
    const std::set<std::string> why = refusals();
    EXPECT_FALSE(why.empty());
    for (const std::string& each : why) {
      EXPECT_NE(each.find("the user lacks a permission: GRANT"), std::string::npos) << each;
      EXPECT_EQ(each.find("app"), std::string::npos) << each;
    }
  }
}

// The transaction of the sweep stayed open, and the grant was made in it.
TEST_F(MysqlPermissions, AFailedSweepDoesNotUndoTheNextGrant) {
  for (const std::string& grant : grants()) {
    if (grant.find("latchkey_sweep") == std::string::npos) root_(grant);
  }
  Probe probe(make_mysql(uri(), options), options);
  const HoldId id = probe.fresh_id();
  // A sweep comes before the first request.
  ASSERT_EQ(probe.acquire("k", LockType::REENTRANT, id, 60s).kind, Outcome::Kind::granted);
  EXPECT_EQ(root_.one("SELECT COUNT(*) FROM shop.latchkey_locks WHERE name = 'k'"), "1")
      << "the grant is not committed";
  std::this_thread::sleep_for(1100ms);  // sleeps: the interval of sweeps
  EXPECT_EQ(probe.acquire("k", LockType::REENTRANT, probe.fresh_id(), 60s).kind,
            Outcome::Kind::busy);
  EXPECT_EQ(probe.send(Verb::verify, "k", LockType::REENTRANT, id).kind, Outcome::Kind::granted);
}

TEST_F(MysqlPermissions, ShedLocksTableNeedsThreeRights) {
  root_("GRANT SELECT, INSERT, UPDATE ON shop.shedlock TO app");
  register_mysql();
  const std::string shedlock = uri("?schema=shedlock");
  EXPECT_TRUE(Locks::connect(shedlock).lock("job").try_acquire());
  for (const std::string right : {"SELECT", "INSERT", "UPDATE"}) {
    root_("REVOKE " + right + " ON shop.shedlock FROM app");
    try {
      static_cast<void>(make_mysql(shedlock, options));
      FAIL() << "without " << right;
    } catch (const BackendRefused& error) {
      const std::string said = error.what();
      EXPECT_NE(said.find("GRANT SELECT, INSERT, UPDATE ON `shedlock`"), std::string::npos) << said;
    }
    root_("GRANT " + right + " ON shop.shedlock TO app");
  }
}

}  // namespace
}  // namespace latchkey::tests
