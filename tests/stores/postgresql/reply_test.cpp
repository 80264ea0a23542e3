// Replies that are not what was asked for: an unknown outcome, and the process goes on.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/error.hpp>

#include "fake_server.hpp"
#include "shared_server.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define LATCHKEY_TESTS_LSAN 1
#endif
#endif

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using namespace postgresql_wire;
using testing::Probe;

/// A server that answers the start of a session as PostgreSQL does.
class PostgresqlReply : public ::testing::Test {
 protected:
  [[nodiscard]] std::optional<std::string> answer(const FakePostgresqlServer::Asked& asked) const {
    const auto asks = [&](std::string_view part) {
      return asked.sql.find(part) != std::string::npos;
    };
    const auto all_of = [](const Table& table) { return described(table) + executed(table); };
    if (asked.kind == 'Q') {
      if (asks("pg_is_in_recovery")) return all_of({4, {{"77", "f", "1.5", "off"}}}) + ready();
      if (asks("pg_terminate_backend")) return all_of({3, {{"77", "0", ""}}}) + ready();
      return all_of(asks("latchkey.version()") ? Table{4, {{"1", "t", "t", "t"}}}
                                               : Table{4, {{"t", "0", std::nullopt, "t"}}}) +
             ready();
    }
    if (asked.kind == 'S') return ready();
    const bool lies = asks(lie_about_);
    if (asked.kind == 'E' && lies && !instead_.empty()) return instead_;
    const Table table = asks("LISTEN")      ? Table{}
                        : lies              ? lie_
                        : asks("upkeep")    ? Table{2, {{"0", ""}}}
                        : asks("RETURNING") ? Table{1, {{"1"}}}
                                            : Table{1, {{"t"}}};
    return asked.kind == 'D' ? described(table) : executed(table);
  }
  Outcome acquire(Table lie, LockType type = LockType::FENCED, const std::string& options = {}) {
    lie_ = std::move(lie);
#ifdef LATCHKEY_TESTS_LSAN
    // A message that libpq does not expect makes it forget the result that it had begun.
    std::optional<__lsan::ScopedDisabler> disabler;
    if (!instead_.empty()) disabler.emplace();
#endif
    std::jthread server([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) static_cast<void>(server_.work(10));
    });
    Probe probe(connect_backend(server_.uri(options), options_), options_);
    return probe.acquire("k", type, probe.fresh_id(), 1s);
  }

  std::string lie_about_ = "acquire";
  Table lie_;
  std::string instead_;  ///< the reply to the execution of `lie_about_`; empty: `lie_`
  const Options options_{.command_timeout = 5s};
  FakePostgresqlServer server_{
      [this](const FakePostgresqlServer::Asked& asked) { return answer(asked); }};
};

void expect_malformed(const Outcome& outcome) {
  EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
  EXPECT_FALSE(outcome.never_ran);
  EXPECT_EQ(outcome.token, 0U);
  EXPECT_NE(outcome.reason.find("not what was asked for"), std::string::npos) << outcome.reason;
}

TEST_F(PostgresqlReply, WhatTheFunctionsReturnIsRead) {
  EXPECT_EQ(acquire({1, {{"g 7"}}}).token, 7U);
  const Outcome busy = acquire({1, {{"b 500 1:2"}}});
  EXPECT_EQ(busy.kind, Outcome::Kind::busy);
  EXPECT_EQ(busy.holder, "1:2");
}

TEST_F(PostgresqlReply, RowsOfAnotherShapeAreAnUnknownOutcome) {
  expect_malformed(acquire({0, {}}));
  expect_malformed(acquire({1, {}}));
  expect_malformed(acquire({1, {{"g 1"}, {"g 2"}}}));
  expect_malformed(acquire({1, {{std::nullopt}}}));
}

TEST_F(PostgresqlReply, CellsThatAreNoReplyAreAnUnknownOutcome) {
  for (const std::string cell : {"", "g", "g x", "g -1", "g 1x", "g 9223372036854775808", "x 1",
                                 "b", "b x", "t", "granted 1"}) {
    SCOPED_TRACE(cell);
    expect_malformed(acquire({1, {{cell}}}));
  }
}

TEST_F(PostgresqlReply, OnlyTheStatementsOfTokensSayThatFunctionsAreMissing) {
  expect_malformed(acquire({1, {{"o"}}}, LockType::WRITE));
  expect_malformed(acquire({1, {{"o"}}}, LockType::FENCED));
}

TEST_F(PostgresqlReply, PermitsAreReadAsStrictly) {
  for (const std::string cell : {"", "g", "g x", "g -1", "b x", "f", "x 1", "gx1"}) {
    SCOPED_TRACE(cell);
    expect_malformed(acquire({1, {{cell}}}, LockType::PERMIT));
  }
}

TEST_F(PostgresqlReply, ATimeBeyondTheClockIsATime) {
  const Outcome outcome = acquire({1, {{"b 9223372036854775807 x"}}});
  ASSERT_TRUE(outcome.retry_after);
  EXPECT_LE(*outcome.retry_after, 24h * 365 * 100);
}

TEST_F(PostgresqlReply, ShedLocksTableIsReadAsStrictly) {
  lie_about_ = "EXISTS";
  const auto ask = [&](Table lie) {
    return acquire(std::move(lie), LockType::REENTRANT, "&schema=shedlock");
  };
  EXPECT_EQ(ask({3, {{"t", "x", "5"}}}).kind, Outcome::Kind::granted);
  EXPECT_EQ(ask({3, {{"f", "x", "9223372036854775807"}}}).kind, Outcome::Kind::busy);
  expect_malformed(ask({3, {{std::nullopt, "x", "5"}}}));
  expect_malformed(ask({3, {}}));
  expect_malformed(ask({1, {{"t"}}}));
}

// libpq returns such a result again and again, and the thread that read it never ended.
TEST_F(PostgresqlReply, AnOfferOfRowsInBulkEndsTheConnection) {
  for (const char kind : {'G', 'H', 'W'}) {
    SCOPED_TRACE(kind);
    instead_ = message(kind, number(0, 3));
    expect_malformed(acquire({1, {{"g 1"}}}));
  }
}

// The outcomes of the others were taken for those of requests that had not run.
TEST_F(PostgresqlReply, AnEndOfTheBatchBeforeItsResultsIsNoOutcome) {
  instead_ = ready();
  const Outcome outcome = acquire({1, {{"g 1"}}});
  EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
  EXPECT_FALSE(outcome.reason.empty());
}

TEST_F(PostgresqlReply, AReplyOfMoreThan64MebibytesEndsTheConnection) {
  const PostgresqlServer real;
  real.sql()(
      "CREATE OR REPLACE FUNCTION latchkey.list(pattern text) RETURNS TABLE (its_name text, "
      "waiters bigint) LANGUAGE sql AS $$SELECT repeat('x', 1000000), 1::bigint FROM "
      "generate_series(1, 80)$$");
  const Options options{.command_timeout = 20s};
  Probe probe(connect_backend(real.uri(), options), options);
  ListPart part;
  std::vector<std::string> names;
  const Outcome outcome = probe.list("*", part, names);
  EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
  EXPECT_NE(outcome.reason.find("longer than 64 MiB"), std::string::npos) << outcome.reason;
  EXPECT_EQ(probe.acquire("k", LockType::REENTRANT, probe.fresh_id(), 1s).kind,
            Outcome::Kind::granted);
}

// libpq reads some 16 KiB of such rows at a time. What it left was counted again each time.
TEST_F(PostgresqlReply, AReplyOfManySmallRowsIsNotTooLong) {
  constexpr std::size_t rows = 500'000;
  lie_about_ = "latchkey.list";
  lie_.columns = 2;
  for (std::size_t row = 0; row < rows; ++row) {
    lie_.rows.push_back({"name " + std::to_string(row), "1"});
  }
  const std::jthread server([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) static_cast<void>(server_.work(10));
  });
  const Options options{.command_timeout = 20s};
  Probe probe(connect_backend(server_.uri(), options), options);
  ListPart part;
  std::vector<std::string> names;
  const Outcome outcome = probe.list("*", part, names);
  EXPECT_EQ(outcome.kind, Outcome::Kind::granted) << outcome.reason;
  EXPECT_EQ(names.size(), rows);
}

// libpq does not tell what it has read, and TCP does.
TEST_F(PostgresqlReply, AMillionNamesFitIntoAReply) {
  const PostgresqlServer real;
  real.sql()(
      "CREATE OR REPLACE FUNCTION latchkey.list(pattern text) RETURNS TABLE (its_name text, "
      "waiters bigint) LANGUAGE sql AS $$SELECT 'name ' || n, 1::bigint FROM "
      "generate_series(1, 1000000) AS n$$");
  for (const std::string& uri : {real.uri(), real.socket_uri()}) {
    const Options options{.command_timeout = 20s};
    Probe probe(connect_backend(uri, options), options);
    ListPart part;
    std::vector<std::string> names;
    const Outcome outcome = probe.list("*", part, names);
    EXPECT_EQ(outcome.kind, Outcome::Kind::granted) << uri << outcome.reason;
    EXPECT_EQ(names.size(), 1'000'000U);
  }
}

}  // namespace
}  // namespace latchkey::tests
