// acquire_all on a real server: one script acquires all members in Redisson's layout, or none.
#include <vector>

#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {
namespace {

using enum LockType;

class AllScript : public ScriptTest {
 protected:
  Outcome acquire_all(const std::vector<Member>& members, milliseconds length = lease,
                      std::uint32_t tokens = 1) {
    Request request;
    request.verb = Verb::acquire_all;
    request.members = members;
    request.lease = length;
    request.tokens = tokens;
    return client.send(request);
  }
};

TEST_F(AllScript, EachMemberIsStoredAsByItsOwnScript) {
  const Outcome outcome =
      acquire_all({{"plain", REENTRANT, id(1)}, {"{r}ead", READ, id(2)}, {"write", WRITE, id(3)}});
  EXPECT_EQ(outcome.kind, Kind::granted);
  EXPECT_EQ(outcome.token, 0U);
  EXPECT_EQ(keys(),
            (Names{"plain", "write", "{r}ead", "{r}ead:" + owner(2) + ":rwlock_timeout:1"}));
  EXPECT_EQ(hash("plain"), (Fields{{owner(1), "1"}}));
  EXPECT_EQ(hash("{r}ead"), (Fields{{"mode", "read"}, {owner(2), "1"}}));
  EXPECT_EQ(hash("write"), (Fields{{"mode", "write"}, {owner(3) + ":write", "1"}}));
  for (const std::string& key : keys()) expect_ttl(key, lease);
  EXPECT_EQ(client.send(Verb::release, "plain", REENTRANT, id(1)).kind, Kind::granted);
  EXPECT_EQ(client.send(Verb::release, "{r}ead", READ, id(2)).kind, Kind::granted);
  EXPECT_EQ(client.send(Verb::release, "write", WRITE, id(3)).kind, Kind::granted);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(AllScript, NothingIsChangedIfOneMemberIsBusy) {
  client.acquire("b", REENTRANT, id(9), lease);
  const Outcome outcome =
      acquire_all({{"a", FENCED, id(1)}, {"b", REENTRANT, id(2)}, {"c", WRITE, id(3)}});
  EXPECT_EQ(outcome.kind, Kind::busy);
  EXPECT_EQ(outcome.busy_member, 1U);
  EXPECT_EQ(outcome.holder, owner(9));
  ASSERT_TRUE(outcome.retry_after);
  EXPECT_GT(*outcome.retry_after, lease - milliseconds(5'000));
  EXPECT_EQ(keys(), Names{"b"});
}

TEST_F(AllScript, OnlyReadersShareAKey) {
  for (const LockType held : {REENTRANT, FENCED, READ, WRITE}) {
    redis({"FLUSHALL"});
    client.acquire("k", held, id(9), lease);
    const Fields before = hash("k");
    for (const LockType type : {REENTRANT, FENCED, READ, WRITE}) {
      const bool shares = held == READ && type == READ;
      const Outcome outcome = acquire_all({{"k", type, id(1)}});
      EXPECT_EQ(outcome.kind, shares ? Kind::granted : Kind::busy)
          << to_string(held) << ' ' << to_string(type);
      if (shares) {
        EXPECT_EQ(client.send(Verb::release, "k", READ, id(1)).kind, Kind::granted);
      } else {
        EXPECT_EQ(hash("k"), before);
        EXPECT_EQ(outcome.holder, owner(9));
      }
    }
  }
}

TEST_F(AllScript, FencedMembersShareOneTokenLargerThanAllEarlierOnes) {
  redis({"SET", "redisson_lock_token:{b}", "9000000000000000"});
  const std::vector<Member> members = {{"a", FENCED, id(1)}, {"b", FENCED, id(2)}};
  const Outcome outcome = acquire_all(members, lease, 5);
  EXPECT_EQ(outcome.token, 9'000'000'000'000'005U);
  EXPECT_EQ(redis({"GET", "redisson_lock_token:{a}"}).text(), "9000000000000005");
  EXPECT_EQ(redis({"GET", "redisson_lock_token:{b}"}).text(), "9000000000000005");
  EXPECT_EQ(pttl("redisson_lock_token:{a}"), -1);
  EXPECT_EQ(acquire_all(members, lease, 5).token, outcome.token) << "asked again by the holder";
}

TEST_F(AllScript, ARepeatedAcquireRestartsTheLeasesAndNeverShortensThem) {
  const std::vector<Member> members = {{"a", REENTRANT, id(1)}, {"b", READ, id(2)}};
  acquire_all(members);
  EXPECT_EQ(acquire_all(members, 2 * lease).kind, Kind::granted);
  for (const std::string& key : keys()) expect_ttl(key, 2 * lease);
  EXPECT_EQ(acquire_all(members, lease).kind, Kind::granted);
  for (const std::string& key : keys()) expect_ttl(key, 2 * lease);
  EXPECT_EQ(hash("a"), (Fields{{owner(1), "1"}}));
}

TEST_F(AllScript, AReadJoinsReadersAndKeepsTheLongestLease) {
  client.acquire("k", READ, id(9), 3 * lease);
  EXPECT_EQ(acquire_all({{"k", READ, id(1)}, {"other", WRITE, id(2)}}).kind, Kind::granted);
  EXPECT_EQ(hash("k").size(), 3U);
  expect_ttl("k", 3 * lease);
  expect_ttl("{k}:" + owner(1) + ":rwlock_timeout:1", lease);
}

TEST_F(AllScript, AKeyOfAnotherTypeIsRefusedAndNothingIsChanged) {
  redis({"SET", "b", "mine"});
  const Outcome outcome = acquire_all({{"a", REENTRANT, id(1)}, {"b", WRITE, id(2)}});
  EXPECT_EQ(outcome.kind, Kind::refused);
  EXPECT_NE(outcome.reason.find("the key holds something that is not a lock"), std::string::npos);
  EXPECT_EQ(keys(), Names{"b"});
}

TEST_F(AllScript, AThousandMembersAreAcquiredAtOnce) {
  std::vector<std::string> names;
  std::vector<Member> members;
  for (int index = 0; index < 1'000; ++index) names.push_back("k" + std::to_string(index));
  for (std::size_t index = 0; index < names.size(); ++index) {
    members.push_back({names[index], index % 2 == 0 ? READ : REENTRANT, id(index + 1)});
  }
  EXPECT_EQ(acquire_all(members).kind, Kind::granted);
  EXPECT_EQ(keys().size(), 1'500U);
  members.push_back({"k0", WRITE, id(5'000)});
  const Outcome outcome = acquire_all(members);
  EXPECT_EQ(outcome.kind, Kind::busy);
  EXPECT_EQ(outcome.busy_member, 1'000U);
}

}  // namespace
}  // namespace latchkey::tests
