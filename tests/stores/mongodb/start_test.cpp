// Locks::connect: an unusable server is refused with one clear sentence.
// SPDX-License-Identifier: BSL-1.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/mongodb.hpp>
#include <latchkey/testing/recorder.hpp>

#include "ferretdb_server.hpp"
#include "stores/mongodb/failure.hpp"
#include "support/polling.hpp"
#include "support/servers/fault_proxy.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Start {
  bool refused = false, unavailable = false;
  std::string text;
};

Start start(const std::string& uri, std::chrono::milliseconds timeout = 2s) {
  register_mongodb();
  try {
    const Locks locks = Locks::connect(uri, {.command_timeout = timeout});
    return {};
  } catch (const BackendRefused& error) {
    return {true, false, error.what()};
  } catch (const BackendUnavailable& error) {
    return {false, true, error.what()};
  }
}

/// The text for an error of the server.
std::string text_of(std::uint32_t domain, std::uint32_t code, const char* message) {
  bson_error_t error{};
  ::bson_set_error(&error, domain, code, "%s", message);
  try {
    detail::mongodb::raise(error, {"findAndModify", "bank.latchkey_locks", 0ms, 2s});
  } catch (const detail::mongodb::NoAnswer& failure) {
    return std::string(failure.may_have_run() ? "may have run: " : "never ran: ") + failure.what();
  } catch (const detail::mongodb::Rejected& failure) {
    return std::string("rejected: ") + failure.what();
  }
}

TEST(MongoDbStart, RegistersOnceAndLocks) {
  NEEDS_FERRETDB();
  register_mongodb();
  register_mongodb();
  const Locks locks = Locks::connect(shared_ferretdb().uri());
  EXPECT_TRUE(locks.lock(next_key("start")).try_acquire());
  EXPECT_THAT(locks.describe(), AllOf(HasSubstr("mongodb://127.0.0.1:"), HasSubstr("/locks")));
}

TEST(MongoDbStart, NoServerIsUnavailable) {
  const Start none = start("mongodb://alice:secret@127.0.0.1:1/locks");
  EXPECT_TRUE(none.unavailable);
  EXPECT_THAT(none.text, AllOf(HasSubstr("no primary was found"), HasSubstr("127.0.0.1:1"),
                               Not(HasSubstr("alice")), Not(HasSubstr("secret"))));
}

TEST(MongoDbStart, BadCredentialsAreRefused) {
  NEEDS_FERRETDB();
  const std::string at = "@127.0.0.1:" + std::to_string(shared_ferretdb().port()) + "/locks";
  const Start wrong = start("mongodb://alice:secret" + at);
  EXPECT_TRUE(wrong.refused) << wrong.text;
  EXPECT_THAT(wrong.text, AllOf(HasSubstr("rejects the user or its password"),
                                Not(HasSubstr("alice:")), Not(HasSubstr("secret"))));
}

TEST(MongoDbStart, AServerThatDoesNotAnswerIsUnavailableInTime) {
  NEEDS_FERRETDB();
  FaultProxy proxy(shared_ferretdb().port());
  proxy.drop(FaultProxy::Direction::to_client);
  const auto before = std::chrono::steady_clock::now();
  const Start silent =
      start("mongodb://127.0.0.1:" + std::to_string(proxy.port()) + "/locks", 500ms);
  EXPECT_TRUE(silent.unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
}

Locks connect_to_absent(const std::string& uri, Listener* listener = nullptr) {
  register_mongodb();
  return Locks::connect(
      uri, {.command_timeout = 500ms, .startup = Startup::allow_down, .listener = listener});
}

// Locks::connect threw BackendUnavailable.
TEST(MongoDbStart, AServerThatMayBeDownIsUsedOnceItIsThere) {
  NEEDS_FERRETDB();
  FerretServer server;
  server.kill();
  testing::Recorder recorder;
  const Locks locks = connect_to_absent(server.uri(), &recorder);
  ASSERT_TRUE(recorder.await(Event::Kind::warning));
  EXPECT_THAT(recorder.events().back().text, HasSubstr("no primary was found"));
  Lock lock = locks.lock("late");
  EXPECT_THROW(static_cast<void>(lock.try_acquire()), BackendUnavailable);
  server.start();
  await("the first lock", [&]() -> std::string {
    return lock.try_acquire(0ms) ? "" : "it is busy";  // an exception counts as missing, too
  });
}

TEST(MongoDbStart, AServerThatWasDownMayStillRefuse) {
  NEEDS_FERRETDB();
  FerretServer server;
  server.kill();
  const std::string at = "@127.0.0.1:" + std::to_string(server.port()) + "/locks";
  const Locks locks = connect_to_absent("mongodb://alice:secret" + at);
  server.start();
  std::string why = "nothing is thrown";
  try {
    static_cast<void>(locks.lock("refused").try_acquire());
  } catch (const BackendRefused& error) {
    why = error.what();
  }
  EXPECT_THAT(why, HasSubstr("rejects the user or its password"));
}

TEST(MongoDbStart, AServerThatRefusesIsNotDown) {
  NEEDS_FERRETDB();
  const std::string at = "@127.0.0.1:" + std::to_string(shared_ferretdb().port()) + "/locks";
  EXPECT_THROW(static_cast<void>(connect_to_absent("mongodb://alice:secret" + at)), BackendRefused);
}

TEST(MongoDbStart, AReplicaSetThatIsNotThereIsUnavailable) {
  NEEDS_FERRETDB();
  EXPECT_TRUE(start(shared_ferretdb().uri("?replicaSet=rs0"), 500ms).unavailable);
}

TEST(MongoDbStart, ErrorsOfTheServerAreClauses) {
  EXPECT_EQ(text_of(MONGOC_ERROR_SERVER, 13, "not authorized on bank to execute command {…}"),
            "rejected: the server forbids findAndModify on bank.latchkey_locks; grant the role "
            "readWrite on this database");
  EXPECT_THAT(text_of(MONGOC_ERROR_SERVER, 18, "Authentication failed."),
              HasSubstr("rejected: the server rejects the user or its password"));
  EXPECT_EQ(text_of(MONGOC_ERROR_SERVER, 10107, "not master"),
            "never ran: the server is no longer the primary");
  EXPECT_EQ(text_of(MONGOC_ERROR_SERVER, 11600, "interrupted"),
            "may have run: the primary steps down");
  EXPECT_THAT(text_of(MONGOC_ERROR_SERVER, 59, "no such command"),
              HasSubstr("expected MongoDB 4.4.2 or later"));
  EXPECT_THAT(text_of(MONGOC_ERROR_WRITE_CONCERN, 64, "waiting for replication timed out"),
              HasSubstr("may have run: too few members"));
}

}  // namespace
}  // namespace latchkey::tests
