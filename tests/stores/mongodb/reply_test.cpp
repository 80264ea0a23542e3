// Replies that are not what latchkey asked for: one clear error.
// SPDX-License-Identifier: BSL-1.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/mongodb.hpp>

#include "backend/registry.hpp"
#include "fake_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using testing::Probe;

/// A server that lies about one command.
class MongoDbReply : public ::testing::Test {
 protected:
  static constexpr std::string_view good_hello =
      R"("localTime": {"$date": {"$numberLong": "1700000000000"}})";

  void lie(std::string command, std::string json) {
    const std::scoped_lock lock(mutex_);
    command_ = std::move(command);
    json_ = std::move(json);
  }
  [[nodiscard]] std::unique_ptr<Backend> backend(const std::string& options = {}) const {
    register_mongodb();
    return detail::find_backend_factory("mongodb")(server_.uri() + options, options_);
  }
  [[nodiscard]] std::string refusal() const {
    try {
      static_cast<void>(backend());
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  std::mutex mutex_;
  std::string command_, json_;
  const Options options_{.command_timeout = 5s};
  FakeMongoServer server_{[this](std::string_view command) {
    const std::scoped_lock lock(mutex_);
    const bool goes_on = command == "getMore" && command_ == "find";
    return command == command_ || goes_on ? json_ : std::string();
  }};
};

std::string with_document(const std::string& document) {
  return R"({"cursor": {"id": {"$numberLong": "0"}, "ns": "l.l", "firstBatch": [)" + document +
         R"(]}, "ok": 1})";
}

TEST_F(MongoDbReply, AServerThatAnnouncesLongerMessagesIsRefused) {
  lie("hello", '{' + std::string(good_hello) + R"(, "maxMessageSizeBytes": 2000000000, )" +
                   std::string(FakeMongoServer::hello) + '}');
  EXPECT_THAT(refusal(), HasSubstr("messages of more than 48000000 bytes"));
}

TEST_F(MongoDbReply, AClockThatShowsNoTimeIsRefused) {
  Probe probe(backend(), options_);
  for (const std::string time : {R"("")", "7", R"({"$date": {"$numberLong": "-1"}})",
                                 R"({"$date": {"$numberLong": "9223372036854775807"}})"}) {
    SCOPED_TRACE(time);
    lie("hello", R"({"localTime": )" + time + ", " + std::string(FakeMongoServer::hello) + '}');
    const Outcome outcome = probe.acquire("k", LockType::FENCED, probe.fresh_id(), 1s);
    EXPECT_EQ(outcome.kind, Outcome::Kind::refused);
    EXPECT_THAT(outcome.reason, HasSubstr("localTime"));
  }
}

TEST_F(MongoDbReply, WhatIsNoReplyIsAnUnknownOutcome) {
  Probe probe(backend(), options_);
  const auto expect_unknown = [&](Verb verb) {
    const Outcome outcome = probe.send(verb, "k", LockType::REENTRANT, probe.fresh_id());
    EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
    EXPECT_THAT(outcome.reason, HasSubstr("not what was asked for"));
  };
  for (const std::string json :
       {R"({"ok": 1})", R"({"cursor": 1, "ok": 1})", R"({"cursor": {"firstBatch": 1}, "ok": 1})",
        R"({"cursor": {"firstBatch": [1]}, "ok": 1})",
        R"({"cursor": {"firstBatch": [{}, {}]}, "ok": 1})"}) {
    SCOPED_TRACE(json);
    lie("find", json);
    expect_unknown(Verb::verify);
  }
  for (const std::string json : {R"({"ok": 1})", R"({"value": 1, "ok": 1})"}) {
    SCOPED_TRACE(json);
    lie("findAndModify", json);
    expect_unknown(Verb::release);
  }
  for (const std::string json : {R"({"ok": 1})", R"({"n": "1", "ok": 1})", R"({"n": -1, "ok": 1})",
                                 R"({"n": 2, "ok": 1})", R"({"n": 1e300, "ok": 1})"}) {
    SCOPED_TRACE(json);
    lie("delete", json);
    expect_unknown(Verb::release);
  }
}

// A reply that showed no hold granted one, and one without a token granted the token 0.
TEST_F(MongoDbReply, AGrantThatDoesNotShowTheHoldIsAnUnknownOutcome) {
  Probe probe(backend(), options_);
  const HoldId id = probe.fresh_id();
  const std::string since = R"(, "since": {"$date": {"$numberLong": "1700000000000"}})";
  const auto held = [&](const std::string& key, const std::string& owner, const std::string& more) {
    return R"({"ok": 1, "value": {"_id": ")" + key + R"(", "owner": ")" + owner +
           R"(", "type": "FENCED", "lease": 1000)" + more + "}}";
  };
  const std::string token = R"(, "fence": {"$numberLong": "1700000000000000"})";
  lie("findAndModify", held("k", id.text(), since + token));
  EXPECT_EQ(probe.acquire("k", LockType::FENCED, id, 1s).token, 1'700'000'000'000'000U);
  for (const std::string& json :
       {std::string(R"({"value": {}, "ok": 1})"), held("k", "other", since + token),
        held("other", id.text(), since + token), held("k", id.text(), token),
        held("k", id.text(), since), held("k", id.text(), since + R"(, "fence": -1)"),
        held("k", id.text(), since + R"(, "fence": "1")"),
        held("k", id.text(), since + R"(, "fence": 7)")}) {
    SCOPED_TRACE(json);
    lie("findAndModify", json);
    const Outcome outcome = probe.acquire("k", LockType::FENCED, id, 1s);
    EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
    EXPECT_EQ(outcome.token, 0U);
    EXPECT_THAT(outcome.reason, HasSubstr("not what was asked for"));
  }
}

TEST_F(MongoDbReply, AReadThatIsNotAmongTheReadersIsAnUnknownOutcome) {
  Probe probe(backend(), options_);
  const HoldId id = probe.fresh_id();
  const auto read_by = [](const std::string& owner) {
    return R"({"value": {"_id": "k", "readers": [{"owner": ")" + owner +
           R"(", "ends": {"$date": {"$numberLong": "1700000001000"}}}]}, "ok": 1})";
  };
  lie("findAndModify", read_by(id.text()));
  EXPECT_EQ(probe.acquire("k", LockType::READ, id, 1s).kind, Outcome::Kind::granted);
  lie("findAndModify", read_by("other"));
  EXPECT_EQ(probe.acquire("k", LockType::READ, id, 1s).kind, Outcome::Kind::unknown);
}

// The readers of such a document decided that a WRITE lasts.
TEST_F(MongoDbReply, ADocumentThatTheFilterDoesNotMatchIsAnUnknownOutcome) {
  Probe probe(backend(), options_);
  const HoldId id = probe.fresh_id();
  const std::string until = R"("ends": {"$date": {"$numberLong": "1800000000000"}})";
  for (const std::string& json :
       {R"({"_id": "k", "readers": [{"owner": ")" + id.text() + R"(", )" + until + "}]}",
        std::string(R"({"_id": "k", "owner": "other", "lease": 1000,
                        "since": {"$date": {"$numberLong": "1700000000000"}}})")}) {
    SCOPED_TRACE(json);
    lie("find", with_document(json));
    EXPECT_EQ(probe.send(Verb::verify, "k", LockType::WRITE, id).kind, Outcome::Kind::unknown);
    EXPECT_EQ(probe.renew("k", LockType::WRITE, id, 1s).kind, Outcome::Kind::unknown);
  }
}

TEST_F(MongoDbReply, AGrantOfShedLockThatDoesNotShowTheHoldIsAnUnknownOutcome) {
  Probe probe(backend("?schema=shedlock"), options_);
  const HoldId id = probe.fresh_id();
  const auto document = [](const std::string& owner, const std::string& until) {
    return R"({"_id": "k", "lockedBy": ")" + owner + R"(",
        "lockedAt": {"$date": {"$numberLong": "1700000000000"}},
        "lockUntil": {"$date": {"$numberLong": ")" +
           until + R"("}}})";
  };
  const auto changed = [](const std::string& json) {
    return R"({"ok": 1, "value": )" + json + '}';
  };
  lie("findAndModify", changed(document(id.text(), "1700000001000")));
  EXPECT_EQ(probe.acquire("k", LockType::REENTRANT, id, 1s).kind, Outcome::Kind::granted);
  lie("findAndModify", changed(document("other", "1700000001000")));
  EXPECT_EQ(probe.acquire("k", LockType::REENTRANT, id, 1s).kind, Outcome::Kind::unknown);
  EXPECT_EQ(probe.renew("k", LockType::REENTRANT, id, 1s).kind, Outcome::Kind::unknown);
  const auto verify = [&] { return probe.send(Verb::verify, "k", LockType::REENTRANT, id).kind; };
  lie("find", with_document(document(id.text(), "1700000001000")));
  EXPECT_EQ(verify(), Outcome::Kind::granted);
  lie("find", with_document(document("other", "1700000001000")));
  EXPECT_EQ(verify(), Outcome::Kind::unknown);
  lie("find", with_document(document(id.text(), "1600000000000")));
  EXPECT_EQ(verify(), Outcome::Kind::gone);
}

// libmongoc fails without an error, and the outcome had no reason.
TEST_F(MongoDbReply, AGreetingThatDoesNotSayWhatTheServerIsIsExplained) {
  for (const std::string greeting : {"isMaster", "hello"}) {
    SCOPED_TRACE(greeting);
    lie(greeting, R"({"isWritablePrimary": 1, "ismaster": 1, "minWireVersion": 0,
        "maxWireVersion": 13, "ok": 1})");
    // Which it is depends on the version of libmongoc.
    EXPECT_THAT(refusal(), AnyOf(HasSubstr("not what was asked for"), HasSubstr("not a primary"),
                                 HasSubstr("the connection broke")));
  }
}

// libmongoc accepts such a reply, and what else is in it granted, or ended a hold.
TEST_F(MongoDbReply, AReplyWithoutSuccessIsAnUnknownOutcome) {
  Probe probe(backend(), options_);
  for (const std::string ok : {"", R"(, "ok": 0)", R"(, "ok": "1")", R"(, "ok": null)"}) {
    SCOPED_TRACE(ok);
    lie("delete", R"({"n": 1)" + ok + '}');
    const Outcome outcome = probe.send(Verb::release, "k", LockType::REENTRANT, probe.fresh_id());
    EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
    EXPECT_THAT(outcome.reason, HasSubstr("not what was asked for"));
  }
}

// Each of them was looked at, and could be deleted by two commands.
TEST(MongoDbReplies, MoreDocumentsThanWereAskedForAreAnError) {
  std::string documents = "{}";
  for (int count = 0; count < 1'000; ++count) documents += ", {}";
  std::atomic<int> finds = 0;
  const FakeMongoServer server([&](std::string_view command) {
    const bool lists = command == "find" && ++finds == 2;
    return lists ? with_document(documents) : std::string();
  });
  register_mongodb();
  try {
    static_cast<void>(detail::find_backend_factory("mongodb")(server.uri(), {}));
    FAIL() << "the documents were accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("not what was asked for"));
  }
}

TEST_F(MongoDbReply, ADocumentThatCannotBeReadIsNamed) {
  Probe probe(backend(), options_);
  lie("find", with_document(R"({"_id": "k", "owner": "o", "since": 1, "lease": 1})"));
  const Outcome outcome = probe.acquire("k", LockType::REENTRANT, probe.fresh_id(), 1s);
  EXPECT_EQ(outcome.kind, Outcome::Kind::refused);
  EXPECT_THAT(outcome.reason, HasSubstr("'since'"));
  EXPECT_TRUE(probe.inspect("k").locked);
}

TEST_F(MongoDbReply, ADocumentOfShedLockThatCannotBeReadIsNamed) {
  Probe probe(backend("?schema=shedlock"), options_);
  for (const std::string until : {"1", R"({"$date": {"$numberLong": "9223372036854775807"}})"}) {
    SCOPED_TRACE(until);
    lie("find", with_document(R"({"_id": "k", "lockedBy": "o", "lockUntil": )" + until + '}'));
    const Outcome outcome = probe.acquire("k", LockType::REENTRANT, probe.fresh_id(), 1s);
    EXPECT_EQ(outcome.kind, Outcome::Kind::refused);
    EXPECT_THAT(outcome.reason, HasSubstr("lockUntil"));
    EXPECT_TRUE(probe.inspect("k").locked);
  }
}

// The listing went on for ever.
TEST_F(MongoDbReply, AListingWithoutEndEnds) {
  Probe probe(backend(), options_);
  lie("find", R"({"cursor": {"id": {"$numberLong": "1"}, "ns": "l.l", "firstBatch": [], "nextBatch":
      []}, "ok": 1})");
  const Outcome outcome = probe.send(Verb::list, "*");
  EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
  EXPECT_THAT(outcome.reason, HasSubstr("not what was asked for"));
}

}  // namespace
}  // namespace latchkey::tests
