// Several holds checked by one call of lua/check_batch.lua.
#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "redis/scripts/script_fixture.hpp"
#include "support/lock_types.hpp"

namespace latchkey::tests {
namespace {

using detail::redis::CheckAnswers;
using Answer = CheckAnswers::Answer;
using std::chrono::minutes;

class CheckBatchScript : public ScriptTest {
 protected:
  Request& add(Verb verb, std::string_view key, LockType type, std::uint64_t number,
               milliseconds length = lease) {
    checks_.push_back(ScriptClient::make_request(verb, key, type, id(number), length));
    return checks_.back();
  }
  std::vector<Answer> answers() {
    std::vector<const Request*> all;
    for (const Request& each : checks_) all.push_back(&each);
    const CheckAnswers given = client.check(all);
    std::vector<Answer> list;
    for (std::size_t index = 0; index < all.size(); ++index) list.push_back(given.of(index));
    return list;
  }

 private:
  std::deque<Request> checks_;
};

TEST_F(CheckBatchScript, RenewsHoldsOfAllTypesAndVerifiesWithoutExtending) {
  for (const LockType type : all_types) {
    client.acquire(to_string(type), type, id(1), lease);
    add(Verb::renew, to_string(type), type, 1, minutes(5));
  }
  client.acquire("v", LockType::WRITE, id(2), lease);
  add(Verb::verify, "v", LockType::WRITE, 2, minutes(5));
  client.acquire("r", LockType::READ, id(3), lease);
  add(Verb::verify, "r", LockType::READ, 3, minutes(5));
  EXPECT_EQ(answers(), std::vector<Answer>(7, Answer::held));
  for (const LockType type : all_types) expect_ttl(to_string(type), minutes(5));
  expect_ttl(timeout_key("{READ}", 1), minutes(5));
  expect_ttl("v", lease);
  expect_ttl("r", lease);
}

TEST_F(CheckBatchScript, OneThatIsGoneOrFailsLeavesTheOthersAsTheyAre) {
  for (const std::string_view key : {"a", "b", "c", "d", "e"}) {
    client.acquire(key, key == "c" ? LockType::READ : LockType::REENTRANT, id(1), lease);
  }
  redis({"DEL", "b"});
  redis({"DEL", timeout_key("{c}", 1)});
  redis({"SET", "d", "no lock"});
  add(Verb::renew, "a", LockType::REENTRANT, 1, minutes(2));
  add(Verb::renew, "b", LockType::REENTRANT, 1, minutes(2));
  add(Verb::renew, "c", LockType::READ, 1, minutes(2));
  add(Verb::renew, "d", LockType::REENTRANT, 1, minutes(2));
  add(Verb::verify, "d", LockType::READ, 1);
  add(Verb::renew, "e", LockType::REENTRANT, 1, minutes(2));
  EXPECT_EQ(answers(), (std::vector{Answer::held, Answer::gone, Answer::gone, Answer::unclear,
                                    Answer::unclear, Answer::held}));
  expect_ttl("a", minutes(2));
  expect_ttl("e", minutes(2));
}

TEST_F(CheckBatchScript, ReplicaIsUnclear) {
  client.acquire("a", LockType::REENTRANT, id(1), lease);
  client.acquire("b", LockType::READ, id(1), lease);
  redis({"REPLICAOF", "127.0.0.1", "1"});
  for (const Verb verb : {Verb::renew, Verb::verify}) {
    add(verb, "a", LockType::REENTRANT, 1);
    add(verb, "b", LockType::READ, 1);
    add(verb, "a", LockType::REENTRANT, 9);
  }
  const std::vector<Answer> given = answers();
  EXPECT_EQ(std::ranges::count(given, Answer::held), 0);
}

TEST_F(CheckBatchScript, WorksWhileTheServerIsOutOfMemory) {
  client.acquire("a", LockType::REENTRANT, id(1), lease);
  client.acquire("b", LockType::READ, id(1), lease);
  client.check(std::vector<const Request*>{});  // the server knows the script
  redis({"CONFIG", "SET", "maxmemory", "1"});
  add(Verb::renew, "a", LockType::REENTRANT, 1);
  add(Verb::renew, "b", LockType::READ, 1);
  add(Verb::verify, "a", LockType::REENTRANT, 1);
  EXPECT_EQ(answers(), std::vector<Answer>(3, Answer::held));
}

TEST_F(CheckBatchScript, IsUnclearAboutTheHoldsWhoseOwnScriptsAreRefused) {
  for (const std::string& command : commands_of(detail::redis::scripts::check_batch)) {
    redis({"FLUSHALL"});
    std::vector<Request> checks;
    for (const Verb verb : {Verb::renew, Verb::verify}) {
      for (const LockType type : all_types) {
        const std::string_view key = to_string(type);
        client.acquire(key, type, id(1), lease, queue_wait);
        checks.push_back(ScriptClient::make_request(verb, key, type, id(1), lease));
        checks.push_back(ScriptClient::make_request(verb, key, type, id(2), lease));
      }
    }
    redis({"PEXPIRE", "READ", "10000"});  // as Redisson's renewal does
    std::vector<const Request*> all;
    for (const Request& each : checks) all.push_back(&each);
    const std::string rule = "-" + command;
    ScriptClient user = as_user({"~*", server.all_channels(), "+@all", rule});
    const CheckAnswers answers = user.check(all);
    redis({"PEXPIRE", "READ", "10000"});
    for (std::size_t index = 0; index < checks.size(); ++index) {
      const Kind own = user.send(checks[index]).kind;
      const Answer expected = own == Kind::granted ? Answer::held
                              : own == Kind::gone  ? Answer::gone
                                                   : Answer::unclear;
      EXPECT_EQ(answers.of(index), expected)
          << to_string(checks[index].verb) << " of " << checks[index].key << " without " << command;
    }
  }
}

}  // namespace
}  // namespace latchkey::tests
