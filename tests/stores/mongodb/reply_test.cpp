// Replies and documents that are not what latchkey asked for, or has written: one clear error.
// SPDX-License-Identifier: BSL-1.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/mongodb.hpp>
#include <latchkey/testing/contract/probe.hpp>

#include "backend/registry.hpp"
#include "fake_server.hpp"
#include "stores/mongodb/lock_document.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using namespace detail::mongodb;
using ::testing::HasSubstr;
using testing::Probe;

LockDocument document_of(const std::string& json) {
  const std::string bytes = bson_of(json);
  bson_t view;
  EXPECT_TRUE(
      ::bson_init_static(&view, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  return LockDocument(Bson(view));
}

TEST(MongoDbDocument, WhatLatchkeyWritesIsRead) {
  const LockDocument held = document_of(R"({"_id": "k", "owner": "o", "type": "WRITE",
      "since": {"$date": {"$numberLong": "1000"}}, "lease": {"$numberLong": "500"}, "fence": 7})");
  EXPECT_EQ(held.wrong_field, "");
  EXPECT_TRUE(held.held({1'500}));
  EXPECT_FALSE(held.held({1'501}));
  EXPECT_EQ(held.fence, 7);
  const LockDocument read = document_of(
      R"({"readers": [{"owner": "o", "ends": {"$date": {"$numberLong": "9"}}}], "fence": 2.0})");
  EXPECT_EQ(read.wrong_field, "");
  EXPECT_EQ(read.fence, 2);
}

// A hold whose end overflowed, or could not be read, had ended, and the lock was granted again.
TEST(MongoDbDocument, AHoldWithAWrongFieldHasNotEnded) {
  const std::string since = R"("since": {"$date": {"$numberLong": "1000"}})";
  for (const auto& [field, json] : std::initializer_list<std::pair<std::string, std::string>>{
           {"owner", R"({"owner": 5, "lease": 1, )" + since + '}'},
           {"since", R"({"owner": "o", "lease": 1})"},
           {"since", R"({"owner": "o", "lease": 1, "since": 7})"},
           {"since", R"({"owner": "o", "lease": 1,
                         "since": {"$date": {"$numberLong": "9223372036854775807"}}})"},
           {"lease", R"({"owner": "o", )" + since + '}'},
           {"lease", R"({"owner": "o", "lease": "1", )" + since + '}'},
           {"lease", R"({"owner": "o", "lease": -1, )" + since + '}'},
           {"lease", R"({"owner": "o", "lease": 1e300, )" + since + '}'},
           {"lease",
            R"({"owner": "o", "lease": {"$numberLong": "9223372036854775807"}, )" + since + '}'},
           {"readers", R"({"readers": 1})"},
           {"readers", R"({"readers": [1]})"},
           {"readers", R"({"readers": [{"owner": "o"}]})"},
           {"readers", R"({"readers": [{"owner": "o", "ends": 1}]})"},
           {"fence", R"({"fence": "1"})"},
           {"fence", R"({"fence": -1})"},
           {"fence", R"({"fence": {"$numberLong": "9223372036854775807"}})"},
           {"writer", R"({"readers": [], "writer": true})"}}) {
    SCOPED_TRACE(json);
    const LockDocument document = document_of(json);
    EXPECT_EQ(document.wrong_field, field);
    EXPECT_TRUE(document.held({2'000}));
  }
}

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
