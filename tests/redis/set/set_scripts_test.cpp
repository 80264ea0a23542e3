// SET NX PX locks on a real server: keys, values, leases and messages, to the letter.
#include <array>
#include <optional>

#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {
namespace {

using detail::redis::OwnerFormat;
using detail::redis::set_layout;
using Answer = detail::redis::CheckAnswers::Answer;

class SetScripts : public ScriptTest {
 protected:
  static constexpr auto plain = LockType::REENTRANT;
  static constexpr auto fenced = LockType::FENCED;

  ScriptClient client_of(OwnerFormat format) const {
    return ScriptClient(server.client(), {.layout = &set_layout(format)});
  }
  std::string value(std::string_view key) { return redis({"GET", key}).text(); }

  ScriptClient set = client_of(OwnerFormat::hold_id);
};

TEST_F(SetScripts, AcquireCreatesAStringWithTheOwnerAndItsLease) {
  const Outcome outcome = set.acquire("order:42", plain, id(1), lease);
  EXPECT_EQ(outcome.kind, Kind::granted);
  EXPECT_EQ(outcome.token, 0U);
  EXPECT_EQ(keys(), Names{"order:42"});
  EXPECT_EQ(value("order:42"), owner(1));
  expect_ttl("order:42", lease);
}

TEST_F(SetScripts, BusyNamesTheHolderAndItsLease) {
  set.acquire("k", plain, id(1), lease);
  for (const LockType type : {plain, fenced}) {
    const Outcome outcome = set.acquire("k", type, id(2), lease);
    EXPECT_EQ(outcome.kind, Kind::busy);
    EXPECT_EQ(outcome.holder, owner(1));
    EXPECT_FALSE(outcome.holder_is_foreign);
    ASSERT_TRUE(outcome.retry_after);
    EXPECT_GT(*outcome.retry_after, lease - milliseconds(5'000));
  }
  EXPECT_EQ(value("k"), owner(1));
}

// Other libraries publish nothing when they release.
TEST_F(SetScripts, AForeignValueIsBusyAndPolled) {
  for (const char* const foreign :
       {"kGyD2zlQOGDL0NUTVBpgqw==", "not an owner", "", "0d7d1a6e-5b0c-4d3c-9a55-2f0e6f1c9b7a:1"}) {
    redis({"SET", "k", foreign, "PX", "60000"});
    const Outcome outcome = set.acquire("k", plain, id(1), lease);
    EXPECT_EQ(outcome.kind, Kind::busy);
    EXPECT_EQ(outcome.holder, foreign);
    EXPECT_TRUE(outcome.holder_is_foreign);
    EXPECT_EQ(outcome.retry_after, milliseconds(200));
    EXPECT_EQ(value("k"), foreign);
  }
}

TEST_F(SetScripts, EveryHolderOfASharedFormatIsPolled) {
  for (const OwnerFormat format : {OwnerFormat::redlock, OwnerFormat::redsync}) {
    ScriptClient shared = client_of(format);
    const std::string key = "k" + std::to_string(static_cast<int>(format));
    shared.acquire(key, plain, id(1), lease);
    EXPECT_EQ(value(key), std::string(detail::redis::OwnerText(id(1), format)));
    const Outcome outcome = shared.acquire(key, plain, id(2), lease);
    EXPECT_EQ(outcome.kind, Kind::busy);
    EXPECT_TRUE(outcome.holder_is_foreign);
    EXPECT_EQ(shared.send(Verb::release, key, plain, id(2)).kind, Kind::gone);
    EXPECT_EQ(shared.send(Verb::release, key, plain, id(1)).kind, Kind::granted);
  }
  EXPECT_EQ(keys(), Names{});
}

TEST_F(SetScripts, AcquireByTheHolderRestartsTheLeaseAndNeverShortensIt) {
  for (const LockType type : {plain, fenced}) {
    const std::string key(to_string(type));
    const Outcome first = set.acquire(key, type, id(1), lease);
    const Outcome again = set.acquire(key, type, id(1), 2 * lease);
    EXPECT_EQ(again.kind, Kind::granted);
    EXPECT_EQ(again.token, first.token);
    expect_ttl(key, 2 * lease);
    EXPECT_EQ(set.acquire(key, type, id(1), lease).kind, Kind::granted);
    expect_ttl(key, 2 * lease);
  }
}

TEST_F(SetScripts, RenewNeverShortensAndExpireNeverExtends) {
  set.acquire("k", plain, id(1), lease);
  EXPECT_EQ(set.renew("k", plain, id(1), lease / 2).kind, Kind::granted);
  expect_ttl("k", lease);
  EXPECT_EQ(set.renew("k", plain, id(1), 2 * lease).kind, Kind::granted);
  expect_ttl("k", 2 * lease);
  const auto expire = [&](milliseconds ends, std::uint64_t number) {
    return set.send(ScriptClient::make_request(Verb::expire, "k", plain, id(number), ends)).kind;
  };
  EXPECT_EQ(expire(3 * lease, 1), Kind::granted);
  expect_ttl("k", 2 * lease);
  EXPECT_EQ(expire(lease / 2, 1), Kind::granted);
  expect_ttl("k", lease / 2);
  EXPECT_EQ(expire(lease / 4, 2), Kind::gone);
  expect_ttl("k", lease / 2);
}

TEST_F(SetScripts, AnotherOwnerChangesNothing) {
  Subscriber listener = subscribe({"latchkey_set_channel:{k}"});
  set.acquire("k", plain, id(1), lease);
  for (const Verb verb : {Verb::release, Verb::leave, Verb::verify}) {
    EXPECT_EQ(set.send(verb, "k", plain, id(2)).kind, Kind::gone) << to_string(verb);
    EXPECT_EQ(set.send(verb, "free", plain, id(2)).kind, Kind::gone) << to_string(verb);
  }
  EXPECT_EQ(set.renew("k", plain, id(2), 9 * lease).kind, Kind::gone);
  EXPECT_EQ(set.renew("free", plain, id(2), lease).kind, Kind::gone);
  EXPECT_EQ(set.send(Verb::verify, "k", plain, id(1)).kind, Kind::granted);
  EXPECT_EQ(keys(), Names{"k"});
  EXPECT_EQ(value("k"), owner(1));
  expect_ttl("k", lease);
  EXPECT_TRUE(listener.received_nothing_else());
}

TEST_F(SetScripts, ReleaseAndLeaveDeleteTheKeyAndNotifyOnce) {
  Subscriber listener = subscribe({"latchkey_set_channel:{k}"});
  for (const Verb verb : {Verb::release, Verb::leave}) {
    set.acquire("k", plain, id(1), lease);
    EXPECT_EQ(set.send(verb, "k", plain, id(1)).kind, Kind::granted);
    EXPECT_EQ(set.send(verb, "k", plain, id(1)).kind, Kind::gone);
    EXPECT_EQ(keys(), Names{});
    EXPECT_EQ(listener.next(), "latchkey_set_channel:{k} 0");
  }
  EXPECT_TRUE(listener.received_nothing_else());
}

TEST_F(SetScripts, ALostHoldIsNotRevived) {
  set.acquire("k", plain, id(1), lease);
  redis({"DEL", "k"});
  EXPECT_EQ(set.renew("k", plain, id(1), lease).kind, Kind::gone);
  EXPECT_EQ(keys(), Names{});
}

TEST_F(SetScripts, TokensRiseAlsoAfterTheCounterWasDeleted) {
  std::uint64_t last = 0;
  for (std::uint64_t number = 1; number <= 4; ++number) {
    const Outcome outcome = set.acquire("k", fenced, id(number), lease, {}, 5);
    EXPECT_GT(outcome.token, last);
    last = outcome.token;
    set.send(Verb::release, "k", fenced, id(number));
    if (number == 2) redis({"DEL", "latchkey_set_token:{k}"});
  }
  EXPECT_EQ(keys(), Names{"latchkey_set_token:{k}"});
  EXPECT_EQ(pttl("latchkey_set_token:{k}"), -1);
}

TEST_F(SetScripts, AValueOfAnotherTypeIsRefusedAndKept) {
  redis({"HSET", "k", java_owner(1), "1"});
  for (const LockType type : {plain, fenced}) {
    const Outcome outcome = set.acquire("k", type, id(1), lease);
    EXPECT_EQ(outcome.kind, Kind::refused);
    EXPECT_NE(outcome.reason.find("the key holds something that is not a lock"), std::string::npos)
        << outcome.reason;
  }
  for (const Verb verb : {Verb::renew, Verb::verify, Verb::release}) {
    EXPECT_EQ(set.send(verb, "k", plain, id(1)).kind, Kind::gone) << to_string(verb);
  }
  EXPECT_EQ(set.send(Verb::force_release, "k").kind, Kind::refused);
  EXPECT_EQ(hash("k"), (Fields{{java_owner(1), "1"}}));
  EXPECT_EQ(keys(), Names{"k"});
}

TEST_F(SetScripts, SeveralAreTakenTogetherOrNone) {
  const std::array members{Member{"a", plain, id(1)}, Member{"b", fenced, id(2)},
                           Member{"c", fenced, id(3)}};
  Request all = ScriptClient::make_request(Verb::acquire_all, "a", plain, {}, lease);
  all.members = members;
  set.acquire("c", plain, id(9), lease);
  const Outcome busy = set.send(all);
  EXPECT_EQ(busy.kind, Kind::busy);
  EXPECT_EQ(busy.busy_member, 2U);
  EXPECT_EQ(busy.holder, owner(9));
  EXPECT_EQ(keys(), Names{"c"});
  set.send(Verb::release, "c", plain, id(9));
  const Outcome granted = set.send(all);
  EXPECT_EQ(granted.kind, Kind::granted);
  EXPECT_GT(granted.token, 0U);
  EXPECT_EQ(set.send(all).token, granted.token);
  for (const Member& each : members) {
    EXPECT_EQ(value(each.key), each.id.text());
    expect_ttl(each.key, lease);
  }
}

TEST_F(SetScripts, ABatchOfChecksAnswersEach) {
  set.acquire("a", plain, id(1), lease);
  set.acquire("b", plain, id(2), lease);
  redis({"HSET", "hash", "field", "1"});
  const std::array requests{
      ScriptClient::make_request(Verb::renew, "a", plain, id(1), 2 * lease),
      ScriptClient::make_request(Verb::renew, "b", plain, id(1), 2 * lease),
      ScriptClient::make_request(Verb::verify, "hash", plain, id(1)),
      ScriptClient::make_request(Verb::verify, "b", plain, id(2)),
  };
  const std::array pointers{&requests[0], &requests[1], &requests[2], &requests[3]};
  const auto answers = set.check(pointers);
  EXPECT_EQ(answers.of(0), Answer::held);
  EXPECT_EQ(answers.of(1), Answer::gone);
  EXPECT_EQ(answers.of(2), Answer::unclear);
  EXPECT_EQ(answers.of(3), Answer::held);
  expect_ttl("a", 2 * lease);
  expect_ttl("b", lease);
}

TEST_F(SetScripts, InspectAndForceReleaseWorkOnLocksOfOtherLibraries) {
  redis({"SET", "k", "kGyD2zlQOGDL0NUTVBpgqw==", "PX", "60000"});
  const LockInfo info = set.inspect("k");
  EXPECT_TRUE(info.locked);
  ASSERT_EQ(info.holders.size(), 1U);
  EXPECT_EQ(info.holders[0].id, "kGyD2zlQOGDL0NUTVBpgqw==");
  EXPECT_EQ(set.send(Verb::force_release, "k").kind, Kind::granted);
  EXPECT_EQ(set.send(Verb::force_release, "k").kind, Kind::gone);
  EXPECT_FALSE(set.inspect("k").locked);
  redis({"SET", "data", "something"});
  EXPECT_EQ(set.send(Verb::force_release, "data").kind, Kind::refused);
  EXPECT_EQ(keys(), Names{"data"});
}

TEST_F(SetScripts, ListShowsLocksOfAllFormatsAndNoData) {
  set.acquire("a:1", fenced, id(1), lease);
  client_of(OwnerFormat::redlock).acquire("a:2", plain, id(2), lease);
  client_of(OwnerFormat::redsync).acquire("a:3", plain, id(3), lease);
  redis({"SET", "a:4", "0123456789abcdef0123456789abcdef", "PX", "60000"});  // redis-py
  redis({"SET", "a:cached", std::string(10'000, 'x'), "PX", "60000"});
  redis({"SET", "a:text", "hello", "PX", "60000"});
  redis({"SET", "a:forever", owner(7)});
  client.acquire("a:hash", plain, id(8), lease);
  Names found = set.list("a:*");
  std::ranges::sort(found);
  EXPECT_EQ(found, (Names{"a:1", "a:2", "a:3", "a:4"}));
  EXPECT_EQ(set.list("b*"), Names{});
}

TEST_F(SetScripts, ANoteIsKeptWithTheHoldOnly) {
  set.acquire("k", plain, id(1), lease);
  for (const std::uint64_t number : {1U, 2U}) {
    Request request = ScriptClient::make_request(Verb::acquire, "k", plain, id(number), lease);
    request.note = "host 1";
    detail::redis::CommandBuffer buffer;
    ASSERT_TRUE(append_note(buffer, request, set_layout(OwnerFormat::hold_id)));
    EXPECT_FALSE(redis.send(buffer.bytes()).is_error());
  }
  EXPECT_EQ(keys(), (Names{"k", "latchkey_holder:{k}:" + owner(1)}));
  EXPECT_EQ(set.inspect("k").holders.at(0).announced, "host 1");
}

TEST_F(SetScripts, AReplicaGrantsNothingAndConfirmsNoHold) {
  set.acquire("k", plain, id(1), lease);
  redis({"REPLICAOF", "127.0.0.1", "1"});
  for (const std::uint64_t number : {1U, 2U}) {
    for (const Verb verb : {Verb::verify, Verb::release, Verb::leave}) {
      EXPECT_EQ(set.send(verb, "k", plain, id(number)).kind, Kind::unknown) << to_string(verb);
      EXPECT_EQ(set.send(verb, "free", plain, id(number)).kind, Kind::unknown) << to_string(verb);
    }
    EXPECT_EQ(set.renew("k", plain, id(number), lease).kind, Kind::unknown);
    EXPECT_EQ(set.acquire("free", plain, id(number), lease).kind, Kind::unknown);
    EXPECT_EQ(set.acquire("free", fenced, id(number), lease).kind, Kind::unknown);
  }
}

TEST_F(SetScripts, AServerWithoutMemoryRefusesLocksAndServesHolders) {
  set.acquire("k", plain, id(1), lease);
  redis({"CONFIG", "SET", "maxmemory", "1"});
  const Outcome refused = set.acquire("other", plain, id(2), lease);
  EXPECT_EQ(refused.kind, Kind::refused);
  EXPECT_NE(refused.reason.find("out of memory"), std::string::npos) << refused.reason;
  EXPECT_EQ(set.renew("k", plain, id(1), lease).kind, Kind::granted);
  EXPECT_EQ(set.send(Verb::verify, "k", plain, id(1)).kind, Kind::granted);
  EXPECT_EQ(set.send(Verb::release, "k", plain, id(1)).kind, Kind::granted);
  EXPECT_EQ(keys(), Names{});
}

}  // namespace
}  // namespace latchkey::tests
