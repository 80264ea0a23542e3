// Fencing tokens of WRITE and FAIR in PostgreSQL.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "shared_server.hpp"
#include "stores/postgresql/ddl.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

TEST(PostgresqlTokens, ThoseOfAWriteAmongSeveralKeysRiseBeyondEachOfThem) {
  register_postgresql();
  Sql admin = shared_server().sql();
  const Locks locks = Locks::connect(shared_server().uri());
  const std::string one = next_key("fence:"), other = next_key("fence:");
  const auto token = [&](const std::string& key, LockType type) {
    return locks.acquire(key, {.type = type, .fenced = true}).fencing_token().value();
  };
  const auto high = token(one, LockType::FAIR);
  admin("UPDATE latchkey.token SET fence = fence + 1000000000000 WHERE name = '" + one + "'");
  const std::vector<std::string> keys{other, one};
  Hold both = locks.acquire_all(keys, {.type = LockType::WRITE, .fenced = true});
  EXPECT_GT(both.fencing_token(one).value(), high + 1'000'000'000'000U);
  EXPECT_EQ(both.fencing_token(0), both.fencing_token(other));
  const auto shown = std::max(both.fencing_token(0).value(), both.fencing_token(1).value());
  EXPECT_TRUE(both.release());
  EXPECT_GT(token(other, LockType::WRITE), shown);
  EXPECT_GT(token(one, LockType::FENCED), shown);
}

TEST(PostgresqlTokens, AnAcquireWithoutOneLeavesNoRowOfTokens) {
  register_postgresql();
  const Locks locks = Locks::connect(shared_server().uri());
  const std::vector<std::string> keys{next_key("plain:"), next_key("plain:")};
  for (const LockType type : {LockType::FAIR, LockType::WRITE}) {
    EXPECT_FALSE(locks.acquire(keys[0], {.type = type}).fence());
    EXPECT_FALSE(locks.acquire_all(keys, {.type = type}).fence(0));
  }
  EXPECT_EQ(shared_server().sql().one("SELECT count(*) FROM latchkey.token WHERE name IN ('" +
                                      keys[0] + "', '" + keys[1] + "')"),
            "0");
}

TEST(PostgresqlTokens, OldTablesStillServeLocksAndRefuseThemWithTheCure) {
  Sql admin = shared_server().sql("postgres");
  admin("CREATE DATABASE untokened OWNER plain");
  const std::string uri = shared_server().uri_of("plain:plain", "untokened");
  EXPECT_NE(connect_backend(uri + "?create=yes"), nullptr);
  shared_server().sql("untokened")("DROP FUNCTION latchkey.give_tokens");
  const std::vector<std::string> keys{"a", "b"};
  {
    const Locks locks = Locks::connect(uri);
    const auto expect_refusal = [&](const auto& acquire) {
      try {
        static_cast<void>(acquire());
        ADD_FAILURE() << "not refused";
      } catch (const BackendRefused& error) {
        EXPECT_NE(std::string(error.what())
                      .find("lacks latchkey's functions for fencing tokens of WRITE and FAIR; run "
                            "'latchkey ddl postgresql | psql <database>' again"),
                  std::string::npos)
            << error.what();
      }
    };
    for (const LockType type : {LockType::FAIR, LockType::WRITE}) {
      EXPECT_TRUE(locks.acquire("a", {.type = type}).release());
      expect_refusal([&] { return locks.acquire("a", {.type = type, .fenced = true}); });
      expect_refusal([&] { return locks.acquire_all(keys, {.type = type, .fenced = true}); });
    }
    EXPECT_TRUE(locks.acquire_all(keys, {.type = LockType::WRITE}).release());
    EXPECT_TRUE(locks.acquire("a", {.type = LockType::FENCED}).fence());
  }
  EXPECT_EQ(shared_server().sql("untokened").one("SELECT count(*) FROM latchkey.lock"), "0");
  shared_server().sql("untokened")(std::string(detail::postgresql::ddl));
  EXPECT_TRUE(
      Locks::connect(uri).acquire_all(keys, {.type = LockType::WRITE, .fenced = true}).fence(0));
  admin("DROP DATABASE untokened WITH (FORCE)");
}

}  // namespace
}  // namespace latchkey::tests
