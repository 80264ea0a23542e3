// The documents that locks are, and that a free lock leaves none.
// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <latchkey/detail/testing/contract/probe.hpp>

#include "ferretdb_server.hpp"
#include "stores/mongodb/commands.hpp"
#include "stores/mongodb/lock_document.hpp"
#include "support/polling.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using namespace detail::mongodb;
using Kind = Outcome::Kind;
using testing::Probe;

/// Each test has a collection of its own.
class MongoDbLayout : public ::testing::Test {
 protected:
  void SetUp() override {
    NEEDS_FERRETDB();
    uri_ = shared_ferretdb().uri("?collection=" + next_key("layout"));
    shell_.emplace(uri_);
  }
  [[nodiscard]] Probe connect() const { return Probe(connect_mongodb(uri_), {}); }
  [[nodiscard]] std::optional<LockDocument> document(std::string_view key) {
    auto found = Commands(**shell_).find(doc("_id", Key{key}));
    if (!found) return std::nullopt;
    return LockDocument(std::move(*found));
  }

  std::string uri_;
  std::optional<Shell> shell_;
};

TEST_F(MongoDbLayout, AnExclusiveHoldHasItsOwnerAndTheServersTimeAndItsReleaseDeletesIt) {
  Probe probe = connect();
  const HoldId id = probe.fresh_id();
  const Date before = Commands(**shell_).now();
  EXPECT_EQ(probe.acquire("order:42", LockType::REENTRANT, id, 30s).kind, Kind::granted);
  const auto held = document("order:42");
  ASSERT_TRUE(held && held->holder);
  EXPECT_EQ(held->holder->owner, id.text());
  EXPECT_EQ(held->holder->type, "REENTRANT");
  EXPECT_EQ(held->holder->lease, 30'000);
  EXPECT_GE(held->holder->since, before);
  EXPECT_LE(held->holder->since, Commands(**shell_).now());
  EXPECT_EQ(text_at(held->source.get(), "_id"), "order:42");
  EXPECT_EQ(probe.send(Verb::release, "order:42", LockType::REENTRANT, id).kind, Kind::granted);
  EXPECT_EQ(shell_->count(), 0U);
}

TEST_F(MongoDbLayout, KeysThatAreNoTextAreBinaryAndDistinct) {
  Probe probe = connect();
  const std::string keys[] = {std::string("a\0b", 3), std::string("a\0c", 3), "a\xff", "a", "ä"};
  for (const std::string& key : keys) {
    EXPECT_EQ(probe.acquire(key, LockType::REENTRANT, probe.fresh_id(), 30s).kind, Kind::granted);
  }
  EXPECT_EQ(shell_->count(), std::size(keys));
  EXPECT_FALSE(text_at(document(keys[0])->source.get(), "_id"));
  EXPECT_EQ(key_of(document(keys[0])->source.get()), keys[0]);
  EXPECT_EQ(text_at(document("ä")->source.get(), "_id"), "ä");
  EXPECT_EQ(probe.list("*").size(), std::size(keys));
}

TEST_F(MongoDbLayout, TheLastReaderDeletesTheDocument) {
  Probe probe = connect();
  const HoldId one = probe.fresh_id(), two = probe.fresh_id();
  for (const HoldId& id : {one, two}) {
    EXPECT_EQ(probe.acquire("r", LockType::READ, id, 30s).kind, Kind::granted);
  }
  EXPECT_EQ(document("r")->readers->size(), 2U);
  EXPECT_EQ(probe.send(Verb::release, "r", LockType::READ, one).kind, Kind::granted);
  EXPECT_EQ(document("r")->readers->size(), 1U);
  EXPECT_EQ(probe.send(Verb::release, "r", LockType::READ, two).kind, Kind::granted);
  EXPECT_EQ(shell_->count(), 0U);
}

TEST_F(MongoDbLayout, AWaitingWriteKeepsNewReadersOut) {
  Probe probe = connect();
  const HoldId reader = probe.fresh_id(), writer = probe.fresh_id();
  EXPECT_EQ(probe.acquire("w", LockType::READ, reader, 30s).kind, Kind::granted);
  EXPECT_EQ(probe.acquire("w", LockType::WRITE, writer, 30s, 10s).kind, Kind::busy);
  EXPECT_EQ(probe.acquire("w", LockType::READ, probe.fresh_id(), 30s).kind, Kind::busy);
  EXPECT_EQ(probe.acquire("w", LockType::READ, reader, 30s).kind, Kind::granted) << "it holds";
  EXPECT_EQ(probe.send(Verb::release, "w", LockType::READ, reader).kind, Kind::granted);
  EXPECT_EQ(probe.acquire("w", LockType::WRITE, writer, 30s, 10s).kind, Kind::granted);
  EXPECT_EQ(probe.send(Verb::release, "w", LockType::WRITE, writer).kind, Kind::granted);
  EXPECT_EQ(shell_->count(), 0U);
}

TEST_F(MongoDbLayout, ABusyKeyIsTriedAgainWhenItsLeaseEndsAndAfter100msAtTheLatest) {
  Probe probe = connect();
  for (const auto lease : {30ms, 30'000ms}) {
    const std::string key = std::to_string(lease.count());
    EXPECT_EQ(probe.acquire(key, LockType::REENTRANT, probe.fresh_id(), lease).kind, Kind::granted);
    const Outcome busy = probe.acquire(key, LockType::REENTRANT, probe.fresh_id(), lease);
    if (busy.kind == Kind::granted) continue;  // the machine has stalled for 30 ms
    ASSERT_TRUE(busy.retry_after);
    EXPECT_LE(*busy.retry_after, std::min<std::chrono::milliseconds>(lease, 100ms));
  }
}

TEST_F(MongoDbLayout, AFenceOutlivesTheHoldAndTokensRiseEvenAfterItsDocumentIsDeleted) {
  Probe probe = connect();
  std::uint64_t last = 0;
  for (int round = 0; round < 20; ++round) {
    const HoldId id = probe.fresh_id();
    const Outcome outcome = probe.acquire("f", LockType::FENCED, id, 30s, 0ms, 5);
    EXPECT_EQ(outcome.kind, Kind::granted);
    EXPECT_GE(outcome.token, last + 5) << "five tokens are reserved";
    last = outcome.token;
    EXPECT_EQ(probe.send(Verb::release, "f", LockType::FENCED, id).kind, Kind::granted);
    EXPECT_EQ(document("f")->fence, static_cast<std::int64_t>(last));
    EXPECT_FALSE(document("f")->holder);
  }
  // A plain hold of the same key keeps the fence, too.
  const HoldId plain = probe.fresh_id();
  EXPECT_EQ(probe.acquire("f", LockType::REENTRANT, plain, 30s).kind, Kind::granted);
  EXPECT_EQ(probe.send(Verb::release, "f", LockType::REENTRANT, plain).kind, Kind::granted);
  EXPECT_EQ(document("f")->fence, static_cast<std::int64_t>(last));
  // Tokens are the server's time in microseconds. Dates count milliseconds: the next one is later.
  const Date deleted = Commands(**shell_).now();
  EXPECT_TRUE(Commands(**shell_).remove(doc("_id", "f")));
  await("the next millisecond",
        [&] { return Commands(**shell_).now() > deleted ? "" : "it has not come"; });
  EXPECT_GT(probe.acquire("f", LockType::FENCED, probe.fresh_id(), 30s).token, last);
}

TEST_F(MongoDbLayout, AWriteWithATokenHasTheFenceOfTheKeyAndOthersLeaveItAsItIs) {
  Probe probe = connect();
  const auto visit = [&](LockType type, bool fenced) {
    Request request;
    request.verb = Verb::acquire;
    request.key = "w";
    request.type = type;
    request.id = probe.fresh_id();
    request.lease = 30s;
    request.fenced = fenced;
    const Outcome outcome = probe.send(request);
    EXPECT_EQ(outcome.kind, Kind::granted);
    EXPECT_EQ(probe.send(Verb::release, "w", type, request.id).kind, Kind::granted);
    return outcome.token;
  };
  EXPECT_EQ(visit(LockType::WRITE, false), 0U);
  EXPECT_FALSE(document("w")) << "nothing is left of a hold without a token";
  const std::uint64_t first = visit(LockType::WRITE, true);
  EXPECT_EQ(visit(LockType::READ, false), 0U);
  EXPECT_EQ(visit(LockType::WRITE, false), 0U);
  EXPECT_EQ(document("w")->fence, static_cast<std::int64_t>(first));
  EXPECT_FALSE(document("w")->holder || document("w")->readers);
  const std::uint64_t second = visit(LockType::FENCED, false);
  EXPECT_GT(second, first);
  EXPECT_GT(visit(LockType::WRITE, true), second);
}

TEST_F(MongoDbLayout, AFenceAheadOfTheClockRises) {
  Probe probe = connect();
  const std::int64_t ahead = (Commands(**shell_).now().milliseconds + 3'600'000) * 1'000;
  Commands(**shell_).modify_or_insert(doc("_id", "f"), doc("$set", doc("fence", ahead)));
  const HoldId id = probe.fresh_id();
  const Outcome first = probe.acquire("f", LockType::FENCED, id, 30s);
  EXPECT_EQ(first.kind, Kind::granted);
  EXPECT_EQ(first.token, static_cast<std::uint64_t>(ahead) + 1);
  EXPECT_EQ(probe.send(Verb::release, "f", LockType::FENCED, id).kind, Kind::granted);
  EXPECT_EQ(probe.acquire("f", LockType::FENCED, probe.fresh_id(), 30s).token, first.token + 1);
}

TEST_F(MongoDbLayout, AConnectionDeletesWhatKilledProcessesLeft) {
  Probe probe = connect();
  for (const LockType type : {LockType::REENTRANT, LockType::READ, LockType::WRITE}) {
    EXPECT_EQ(probe.acquire(to_string(type), type, probe.fresh_id(), 20ms).kind, Kind::granted);
  }
  EXPECT_EQ(probe.acquire("f", LockType::FENCED, probe.fresh_id(), 20ms).kind, Kind::granted);
  const HoldId alive = probe.fresh_id();
  EXPECT_EQ(probe.acquire("alive", LockType::REENTRANT, alive, 30s).kind, Kind::granted);
  await("the ends of their leases", [&] {
    static_cast<void>(connect());
    const auto fenced = document("f");
    return shell_->count() == 2 && fenced && !fenced->holder ? "" : "holds are left";
  });
  EXPECT_TRUE(document("f")->fence);
  EXPECT_EQ(probe.send(Verb::verify, "alive", LockType::REENTRANT, alive).kind, Kind::granted);
}

}  // namespace
}  // namespace latchkey::tests
