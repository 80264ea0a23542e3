// The commands that are sent: FerretDB ignores some of their fields, which MongoDB does not.
// SPDX-License-Identifier: BSL-1.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ferretdb_server.hpp"
#include "stores/mongodb/commands.hpp"
#include "stores/mongodb/lock_operations.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using namespace detail::mongodb;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Records what its one client sends.
class MongoDbCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    NEEDS_FERRETDB();
    shell_.emplace(shared_ferretdb().uri("?collection=" + next_key("commands")));
    auto client = (**shell_).take();
    const std::unique_ptr<mongoc_apm_callbacks_t, decltype(&::mongoc_apm_callbacks_destroy)>
        callbacks(::mongoc_apm_callbacks_new(), &::mongoc_apm_callbacks_destroy);
    ::mongoc_apm_set_command_started_cb(callbacks.get(), [](const auto* event) {
      auto& its = *static_cast<MongoDbCommands*>(::mongoc_apm_command_started_get_context(event));
      its.names.emplace_back(::mongoc_apm_command_started_get_command_name(event));
      char* const text =
          ::bson_as_relaxed_extended_json(::mongoc_apm_command_started_get_command(event), nullptr);
      its.texts.emplace_back(text);
      ::bson_free(text);
    });
    ::mongoc_client_set_apm_callbacks(&client->get(), callbacks.get(), this);
    (**shell_).give_back(std::move(client));
    request_.key = "k";
    request_.id = {{1, 2}, 3};
    request_.lease = 30s;
  }
  template <class Work>
  Answer run(Work work) {
    names.clear();
    texts.clear();
    Commands commands(**shell_);
    LockOperation operation(commands, request_);
    return work(operation);
  }
  Answer acquire() {
    return run([](LockOperation& operation) { return operation.acquire(); });
  }
  Answer release() {
    return run([](LockOperation& operation) { return operation.release(); });
  }

  std::optional<Shell> shell_;
  Request request_;
  std::vector<std::string> names, texts;
};

TEST_F(MongoDbCommands, AnAcquireOfAFreeKeyAndItsReleaseAreOneCommandEach) {
  EXPECT_EQ(acquire().kind, Outcome::Kind::granted);
  EXPECT_THAT(names, ElementsAre("findAndModify"));
  EXPECT_THAT(texts[0], HasSubstr(R"("query" : { "_id" : "k", "owner" : { "$exists" : false }, )"
                                  R"("readers" : { "$exists" : false } })"));
  EXPECT_THAT(texts[0], HasSubstr(R"("$currentDate" : { "since" : true })"));
  EXPECT_THAT(texts[0], HasSubstr(R"("upsert" : true)"));
  EXPECT_EQ(release().kind, Outcome::Kind::granted);
  EXPECT_THAT(names, ElementsAre("delete"));
  EXPECT_THAT(texts[0], HasSubstr(R"("owner" : ")" + request_.id.text() + R"(")"));
}

TEST_F(MongoDbCommands, WritesWaitForAMajorityAndNoLongerThanACommandMayTake) {
  acquire();
  EXPECT_THAT(texts[0], HasSubstr(R"("writeConcern" : { "w" : "majority", "wtimeout" : 2000 })"));
  release();
  EXPECT_THAT(texts[0], HasSubstr(R"("writeConcern" : { "w" : "majority", "wtimeout" : 2000 })"));
}

TEST_F(MongoDbCommands, NoCommandHasATimeOfTheClient) {
  acquire();
  EXPECT_THAT(texts[0], Not(HasSubstr("$date")));
  EXPECT_EQ(run([](LockOperation& operation) { return operation.verify(); }).kind,
            Outcome::Kind::granted);
  EXPECT_THAT(names, ElementsAre("find", "hello"));
  request_.lease = 60s;
  EXPECT_EQ(run([](LockOperation& operation) { return operation.renew(); }).kind,
            Outcome::Kind::granted);
  EXPECT_THAT(names, ElementsAre("find", "hello", "findAndModify"));
  EXPECT_THAT(texts[2], HasSubstr(R"("$currentDate" : { "since" : true })"));
  release();
}

}  // namespace
}  // namespace latchkey::tests
