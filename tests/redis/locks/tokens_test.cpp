// Fencing tokens of WRITE and FAIR on a real server.
#include <cstdint>
#include <string>
#include <vector>

#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {
namespace {

using enum LockType;

class TokenScripts : public ScriptTest {
 protected:
  static constexpr std::string_view token_key = "redisson_lock_token:{k}";

  static Request fenced(LockType type, std::uint64_t number, std::uint32_t tokens = 1) {
    Request request = ScriptClient::make_request(Verb::acquire, "k", type, id(number), lease);
    request.fenced = true;
    request.tokens = tokens;
    return request;
  }
};

TEST_F(TokenScripts, TheLockIsStoredAsWithoutAToken) {
  for (const LockType type : {WRITE, FAIR}) {
    redis({"FLUSHALL"});
    client.acquire("k", type, id(1), lease);
    const Fields plain = hash("k");
    redis({"FLUSHALL"});
    const Outcome outcome = client.send(fenced(type, 1));
    EXPECT_EQ(outcome.kind, Kind::granted);
    EXPECT_EQ(hash("k"), plain);
    EXPECT_EQ(keys(), (Names{"k", std::string(token_key)}));
    EXPECT_EQ(redis({"GET", token_key}).text(), std::to_string(outcome.token));
    EXPECT_EQ(pttl(std::string(token_key)), -1);
    expect_ttl("k", lease);
  }
}

TEST_F(TokenScripts, WithoutATokenNothingIsReadOrWrittenOfIt) {
  redis({"SET", token_key, "no number"});
  for (const LockType type : {WRITE, FAIR}) {
    const Outcome outcome = client.acquire("k", type, id(1), lease);
    EXPECT_EQ(outcome.kind, Kind::granted);
    EXPECT_EQ(outcome.token, 0U);
    EXPECT_EQ(client.send(Verb::release, "k", type, id(1)).kind, Kind::granted);
  }
  EXPECT_EQ(redis({"GET", token_key}).text(), "no number");
}

TEST_F(TokenScripts, AllTypesCountOn) {
  std::uint64_t last = 9'000'000'000'000'000;
  redis({"SET", token_key, std::to_string(last)});
  for (const LockType type : {WRITE, FENCED, FAIR, WRITE}) {
    const Outcome outcome = client.send(fenced(type, 1, 5));
    EXPECT_EQ(outcome.token, last + 5) << to_string(type);
    last = outcome.token;
    EXPECT_EQ(client.send(fenced(type, 1, 5)).token, last) << "the reply was lost";
    EXPECT_EQ(client.send(Verb::release, "k", type, id(1)).kind, Kind::granted);
  }
}

TEST_F(TokenScripts, AHolderWhoseTokenWasDeletedGetsANewOne) {
  for (const LockType type : {WRITE, FAIR}) {
    const std::uint64_t first = client.send(fenced(type, 1)).token;
    redis({"DEL", token_key});
    EXPECT_GT(client.send(fenced(type, 1)).token, first);
    EXPECT_EQ(client.send(Verb::release, "k", type, id(1)).kind, Kind::granted);
  }
}

TEST_F(TokenScripts, AfterTheLastTokenNothingIsLocked) {
  redis({"SET", token_key, "9007199254740991"});
  for (const LockType type : {WRITE, FAIR}) {
    const Outcome outcome = client.send(fenced(type, 1));
    EXPECT_EQ(outcome.kind, Kind::refused);
    EXPECT_NE(outcome.reason.find("has reached 2^53"), std::string::npos) << outcome.reason;
    EXPECT_EQ(keys(), (Names{std::string(token_key)}));
  }
}

TEST_F(TokenScripts, AWriteAmongSeveralKeysGetsOneAndTheOthersKeepTheirs) {
  redis({"SET", "redisson_lock_token:{b}", "17"});
  Request all;
  all.verb = Verb::acquire_all;
  all.lease = lease;
  const std::vector<Member> members = {{"a", WRITE, id(1), 0, true}, {"b", WRITE, id(2)}};
  all.members = members;
  const Outcome outcome = client.send(all);
  EXPECT_GT(outcome.token, 0U);
  EXPECT_EQ(redis({"GET", "redisson_lock_token:{a}"}).text(), std::to_string(outcome.token));
  EXPECT_EQ(redis({"GET", "redisson_lock_token:{b}"}).text(), "17");
  EXPECT_EQ(hash("a"), (Fields{{"mode", "write"}, {owner(1) + ":write", "1"}}));
  EXPECT_EQ(client.send(all).token, outcome.token);
}

// The score of a FAIR waiter cannot tell that it wants a token, so it takes the lock itself.
TEST_F(TokenScripts, AFairWaiterWithATokenIsNotifiedAndNotGranted) {
  const std::string channel = "redisson_lock__channel:{k}:" + owner(2);
  Subscriber waiter = subscribe({channel});
  const std::uint64_t first = client.send(fenced(FAIR, 1)).token;
  Request next = fenced(FAIR, 2);
  next.queue_wait = queue_wait;
  EXPECT_EQ(client.send(next).kind, Kind::busy);
  EXPECT_EQ(client.send(Verb::release, "k", FAIR, id(1)).kind, Kind::granted);
  EXPECT_EQ(hash("k"), Fields{});
  const Outcome granted = client.send(next);
  EXPECT_EQ(granted.kind, Kind::granted);
  EXPECT_GT(granted.token, first);
}

}  // namespace
}  // namespace latchkey::tests
