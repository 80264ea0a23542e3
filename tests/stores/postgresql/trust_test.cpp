// Tests that neither a role without privileges nor the database's history breaks locks.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "shared_server.hpp"
#include "stores/postgresql/ddl.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

/// A database of the shared server, for one test.
class OwnDatabase {
 public:
  explicit OwnDatabase(std::string name) : name_(std::move(name)) {
    shared_server().sql("postgres")("CREATE DATABASE " + name_);
  }
  OwnDatabase(const OwnDatabase&) = delete;
  OwnDatabase& operator=(const OwnDatabase&) = delete;
  ~OwnDatabase() { shared_server().sql("postgres")("DROP DATABASE " + name_ + " WITH (FORCE)"); }

  [[nodiscard]] Sql sql() const { return shared_server().sql(name_); }
  [[nodiscard]] std::string uri(const std::string& options = {}) const {
    return shared_server().uri_of("plain:plain", name_) + options;
  }
  void make_tables() const {
    Sql admin = sql();
    admin(std::string(detail::postgresql::ddl));
    admin("GRANT USAGE ON SCHEMA latchkey TO plain");
    admin("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA latchkey TO plain");
    admin("GRANT USAGE ON ALL SEQUENCES IN SCHEMA latchkey TO plain");
  }

 private:
  const std::string name_;
};

/// Operators of `stranger` that fit some expressions better than those of pg_catalog, and, in the
/// schema `before`, one that is found first if the path names pg_catalog after it.
void make_hostile_operators(Sql& admin) {
  for (const char* const statement : {
           "CREATE SCHEMA before AUTHORIZATION stranger",
           "GRANT USAGE ON SCHEMA before TO plain",
           "GRANT CREATE ON SCHEMA public TO stranger",
           "SET ROLE stranger",
           "CREATE FUNCTION public.strike() RETURNS void LANGUAGE plpgsql AS $$ BEGIN "
           "  BEGIN EXECUTE 'ALTER ROLE stranger SUPERUSER'; EXCEPTION WHEN OTHERS THEN NULL; END; "
           "END $$",
           "CREATE FUNCTION public.times(float8, int) RETURNS float8 LANGUAGE sql AS "
           "'SELECT public.strike(); SELECT 1::float8'",
           "CREATE OPERATOR public.* (leftarg = float8, rightarg = int, procedure = public.times)",
           "CREATE FUNCTION public.shrink(bigint, interval) RETURNS interval LANGUAGE sql AS "
           "'SELECT public.strike(); SELECT interval ''0'''",
           "CREATE OPERATOR public.* (leftarg = bigint, rightarg = interval, procedure = "
           "public.shrink)",
           "CREATE FUNCTION public.same(varchar, varchar) RETURNS boolean LANGUAGE sql AS "
           "'SELECT public.strike(); SELECT true'",
           "CREATE OPERATOR public.= (leftarg = varchar, rightarg = varchar, procedure = "
           "public.same)",
           "CREATE FUNCTION before.same(text, text) RETURNS boolean LANGUAGE sql AS "
           "'SELECT public.strike(); SELECT true'",
           "CREATE OPERATOR before.= (leftarg = text, rightarg = text, procedure = before.same)",
           "CREATE FUNCTION before.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "
           "'SELECT public.strike(); SELECT timestamptz ''2100-01-01'''",
           "RESET ROLE",
       }) {
    admin(statement);
  }
}

// Two clients held one lock, and the role became a superuser when the tables were made.
TEST(PostgresqlTrust, FunctionsAndStatementsCallNothingOfOtherRoles) {
  const OwnDatabase database("hostile");
  Sql admin = database.sql();
  make_hostile_operators(admin);
  database.make_tables();
  admin("ALTER ROLE plain IN DATABASE hostile SET search_path = before, public, pg_catalog");
  admin(
      "CREATE TABLE public.shedlock(name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP NOT NULL, "
      "locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL)");
  admin("GRANT SELECT, INSERT, UPDATE ON public.shedlock TO plain");
  register_postgresql();
  for (const char* const schema : {"", "?schema=shedlock"}) {
    SCOPED_TRACE(schema);
    const Locks one = Locks::connect(database.uri(schema));
    const Locks other = Locks::connect(database.uri(schema));
    Hold hold = one.lock("order").acquire(0ms, 60s);
    EXPECT_FALSE(other.lock("order").try_acquire(0ms, 60s));
    EXPECT_TRUE(other.lock("another").try_acquire(0ms, 60s));
    EXPECT_TRUE(hold.extend(60s));
    EXPECT_TRUE(hold.release());
  }
  const Locks locks = Locks::connect(database.uri());
  for (const LockType type : {LockType::FAIR, LockType::READ, LockType::WRITE, LockType::FENCED}) {
    Hold hold = locks.lock("typed", type).acquire(0ms, 60s);
    EXPECT_TRUE(locks.inspect("typed").locked);
    EXPECT_EQ(locks.list("*").size(), 1U);
    EXPECT_TRUE(hold.release());
  }
  const std::vector<std::string> keys{"one", "other"};
  EXPECT_TRUE(locks.acquire("typed", {.type = LockType::FAIR, .fenced = true}).fence());
  EXPECT_TRUE(locks.acquire_all(keys, {.type = LockType::WRITE, .fenced = true}).fence(1));
  EXPECT_EQ(admin.one("SELECT rolsuper FROM pg_roles WHERE rolname = 'stranger'"), "f");
  // As the administrator calls them by hand.
  admin("SET search_path = before, public, pg_catalog");
  admin("SELECT latchkey.acquire('by hand', 'me', 'x', 1000, 0, NULL)");
  admin("SELECT latchkey.give_tokens('{by hand}', '{me}', 1)");
  admin("SELECT latchkey.force_release('by hand')");
  admin("SELECT latchkey.upkeep('none')");
  admin("RESET search_path");
  EXPECT_EQ(admin.one("SELECT rolsuper FROM pg_roles WHERE rolname = 'stranger'"), "f");
}

/// The mutex of a key, which needs no privilege.
void keep_mutex(Sql& stranger, const std::string& key) {
  stranger("SELECT pg_advisory_lock(hashtextextended('" + key + "', 7809644666444609893))");
}

// The holder lost its lock, and every other hold of a process whose threads asked for that key.
TEST(PostgresqlTrust, ARoleThatKeepsTheMutexOfAKeyEndsNoHold) {
  register_postgresql();
  Options options;
  options.watchdog = 3s;
  const std::string key = next_key("kept:"), other = next_key("other:");
  const Locks one = Locks::connect(shared_server().uri(), options);
  const Locks two = Locks::connect(shared_server().uri(), options);
  Hold hold = one.lock(key).acquire(forever);
  Hold beside = two.lock(other).acquire(forever);
  std::optional<Sql> stranger("host=127.0.0.1 user=stranger password=stranger dbname=locks port=" +
                              std::to_string(shared_server().port()));
  keep_mutex(*stranger, key);
  std::atomic<bool> over{false};
  std::vector<std::jthread> callers;
  for (int number = 0; number < 4; ++number) {
    callers.emplace_back([&] {
      while (!over) {
        try {
          static_cast<void>(two.lock(key).try_acquire(200ms, 1s));
        } catch (const BackendUnavailable&) {
        }
      }
    });
  }
  std::this_thread::sleep_for(9s);  // sleeps: three leases
  EXPECT_FALSE(hold.lost());
  EXPECT_FALSE(beside.lost());
  EXPECT_TRUE(hold.release());
  over = true;
  callers.clear();
  EXPECT_TRUE(beside.release());
  EXPECT_EQ(
      shared_server().sql().one("SELECT count(*) FROM latchkey.lock WHERE name = '" + key + "'"),
      "0");
  stranger.reset();
  EXPECT_TRUE(one.lock(key).try_acquire(5s));
}

// A sequence gave the numbers again that it had given since the backup.
TEST(PostgresqlTrust, FencingTokensRiseAfterTheTablesWereRestored) {
  register_postgresql();
  Sql admin = shared_server().sql();
  const Locks locks = Locks::connect(shared_server().uri());
  const std::string key = next_key("fence:");
  const auto token = [&] {
    return locks.lock(key, LockType::FENCED).acquire(forever).fencing_token().value();
  };
  const auto first = token();
  const std::string backup =
      admin.one("SELECT fence FROM latchkey.token WHERE name = '" + key + "'");
  const auto second = token();
  EXPECT_GT(second, first);
  admin("UPDATE latchkey.token SET fence = " + backup + " WHERE name = '" + key + "'");
  const auto third = token();
  EXPECT_GT(third, second);
  admin("DELETE FROM latchkey.token WHERE name = '" + key + "'");
  const auto fourth = token();
  EXPECT_GT(fourth, third);
  // The clock was ahead before.
  admin("UPDATE latchkey.token SET fence = fence + 1000000000000 WHERE name = '" + key + "'");
  const auto fifth = token();
  EXPECT_GT(fifth, fourth + 1'000'000'000'000U);
}

TEST(PostgresqlTrust, FencingTokensOfSeveralKeysRiseBeyondEachOfThem) {
  register_postgresql();
  Sql admin = shared_server().sql();
  const Locks locks = Locks::connect(shared_server().uri());
  const std::string one = next_key("fence:"), other = next_key("fence:");
  const auto token = [&](const std::string& key) {
    return locks.lock(key, LockType::FENCED).acquire(forever).fencing_token().value();
  };
  const auto high = token(one);
  admin("UPDATE latchkey.token SET fence = fence + 1000000000000 WHERE name = '" + one + "'");
  const auto both =
      locks.all_of({locks.lock(one, LockType::FENCED), locks.lock(other, LockType::FENCED)})
          .acquire(forever)
          .fencing_token(one)
          .value();
  EXPECT_GT(both, high + 1'000'000'000'000U);
  EXPECT_GT(token(other), both);
  EXPECT_GT(token(one), both);
}

// Each client read the whole table every 5 s.
TEST(PostgresqlTrust, UpkeepReadsWhatHasEndedAndOneClientDoesIt) {
  const OwnDatabase database("upkeep");
  database.make_tables();
  Sql admin = database.sql();
  admin(
      "INSERT INTO latchkey.lock SELECT 'k' || i, 'o', 'x', now() + interval '1 day', 0, NULL "
      "FROM generate_series(1, 20000) i");
  admin(
      "INSERT INTO latchkey.lock SELECT 'k' || i, 'over', 'x', now() - interval '1 s', 0, NULL "
      "FROM generate_series(1, 10) i");
  admin("SET enable_seqscan = off");
  // They contain those of earlier transactions that the session has not reported yet.
  const auto rows_of_session = [&] {
    return std::stol(
        admin.one("SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables "
                  "WHERE relid = 'latchkey.lock'::regclass"));
  };
  const auto rows_read = [&] {
    admin("BEGIN");
    const long before = rows_of_session();
    admin("SELECT latchkey.upkeep('channel')");
    const long read = rows_of_session() - before;
    admin("COMMIT");
    return read;
  };
  const long first = rows_read();
  EXPECT_GE(first, 10);
  EXPECT_LT(first, 100);
  EXPECT_EQ(admin.one("SELECT count(*) FROM latchkey.lock"), "20000");
  EXPECT_EQ(rows_read(), 0) << "within 5 s of the last one";
}

TEST(PostgresqlTrust, TablesThatAreNewHaveTheGrantsOfTheOthersAndOldFunctionsAreNamed) {
  const OwnDatabase database("older");
  database.make_tables();
  Sql admin = database.sql();
  admin("DROP TABLE latchkey.token, latchkey.sweep");
  EXPECT_NE(connect_backend(database.uri())->warning().find("latchkey ddl postgresql"),
            std::string::npos);
  admin(std::string(detail::postgresql::ddl));
  const auto backend = connect_backend(database.uri());
  EXPECT_EQ(backend->warning(), "");
  register_postgresql();
  EXPECT_TRUE(Locks::connect(database.uri()).lock("a", LockType::FENCED).try_acquire());
}

// The time was converted by the zone of each session, so a lock that a Java service of another zone
// had taken was granted again.
TEST(PostgresqlTrust, AShedlockTableWhoseTimesAreNotExactIsRefused) {
  Sql admin = shared_server().sql();
  for (const std::string type : {"timestamptz", "timestamp(0)", "date"}) {
    SCOPED_TRACE(type);
    admin("DROP TABLE IF EXISTS zoned");
    admin("CREATE TABLE zoned(name text PRIMARY KEY, lock_until " + type +
          " NOT NULL, locked_at timestamp NOT NULL, locked_by text NOT NULL)");
    admin("GRANT ALL ON zoned TO plain");
    std::string why;
    try {
      static_cast<void>(connect_backend(shared_server().uri("?schema=shedlock&table=zoned")));
    } catch (const BackendRefused& error) {
      why = error.what();
    }
    EXPECT_NE(why.find("lock_until"), std::string::npos) << why;
    EXPECT_NE(why.find("expected timestamp without time zone"), std::string::npos) << why;
  }
  admin("DROP TABLE zoned");
  admin(
      "CREATE TABLE zoned(name text, lock_until timestamp(3), locked_at timestamp(3), locked_by "
      "text)");
  admin("GRANT ALL ON zoned TO plain");
  try {
    static_cast<void>(connect_backend(shared_server().uri("?schema=shedlock&table=zoned")));
    ADD_FAILURE() << "a table without a primary key is accepted";
  } catch (const BackendRefused& error) {
    EXPECT_NE(std::string(error.what()).find("unique index"), std::string::npos) << error.what();
  }
  admin("ALTER TABLE zoned ADD PRIMARY KEY (name)");
  EXPECT_NE(connect_backend(shared_server().uri("?schema=shedlock&table=zoned")), nullptr);
}

}  // namespace
}  // namespace latchkey::tests
