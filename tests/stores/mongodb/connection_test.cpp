// Tests that libmongoc keeps no connection that is out of step, and sends no command again.
// SPDX-License-Identifier: BSL-1.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include <latchkey/detail/testing/contract/probe.hpp>
#include <latchkey/mongodb.hpp>
#include <latchkey/options.hpp>

#include "backend/registry.hpp"
#include "fake_server.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::Probe;

// Each later reply was that of the command before.
TEST(MongoDbConnection, AReplyOfAnotherCommandEndsTheConnection) {
  std::atomic<int> greetings = 0;
  std::atomic<bool> lies = false;
  const FakeMongoServer server([&](std::string_view command) {
    if (command == "isMaster") ++greetings;
    return command == "delete" && lies ? std::string(R"({"value": null, "ok": 1})") : std::string();
  });
  register_mongodb();
  Probe probe(detail::find_backend_factory("mongodb")(server.uri(), {}), {});
  const auto release = [&] {
    return probe.send(Verb::release, "k", LockType::REENTRANT, probe.fresh_id()).kind;
  };
  EXPECT_EQ(release(), Outcome::Kind::gone);
  EXPECT_EQ(greetings, 1);
  lies = true;
  EXPECT_EQ(release(), Outcome::Kind::unknown);
  lies = false;
  EXPECT_EQ(release(), Outcome::Kind::gone);
  EXPECT_EQ(greetings, 2);
}

// libmongoc sent it again, which took another command_timeout.
TEST(MongoDbConnection, AReadThatIsNotAnsweredIsSentOnce) {
  std::atomic<int> finds = 0;
  std::atomic<bool> is_slow = false;
  const FakeMongoServer server([&](std::string_view command) {
    if (command == "find") ++finds;
    // sleeps: the answer is late
    if (command == "find" && is_slow) std::this_thread::sleep_for(450ms);
    return std::string();
  });
  register_mongodb();
  const Options options{.command_timeout = 300ms};
  Probe probe(detail::find_backend_factory("mongodb")(server.uri(), options), options);
  finds = 0;
  is_slow = true;
  const Outcome outcome = probe.send(Verb::verify, "k", LockType::REENTRANT, probe.fresh_id());
  EXPECT_EQ(outcome.kind, Outcome::Kind::unknown);
  EXPECT_THAT(outcome.reason, HasSubstr("no answer within 300 ms"));
  EXPECT_EQ(finds, 1);
}

}  // namespace
}  // namespace latchkey::tests
