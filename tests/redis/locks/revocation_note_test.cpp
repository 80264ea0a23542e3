// A revocation leaves a note on the server, which inspect reads.
#include <string>
#include <vector>

#include "redis/protocol/names.hpp"
#include "redis/scripts/permits_fixture.hpp"

namespace latchkey::tests {
namespace {

class RevocationScript : public PermitsTest {
 protected:
  static constexpr std::string_view note = "latchkey_revoke:{k}";

  void take(LockType type, std::uint64_t number, std::string_view name = key) {
    EXPECT_EQ(client.acquire(name, type, id(number), lease).kind, Kind::granted);
  }
  Outcome revoke(std::string_view name = key) { return client.send(Verb::revoke, name); }
  static std::vector<std::string> asked(const LockInfo& info) {
    std::vector<std::string> ids;
    for (const HolderInfo& each : info.holders) {
      if (each.revoked) ids.push_back(each.id);
    }
    return ids;
  }
  std::vector<std::string> asked(std::string_view name = key) {
    return asked(client.inspect(name));
  }
};

using Ids = std::vector<std::string>;

TEST_F(RevocationScript, NamesTheHolderAndEndsWithTheLeaseThatRan) {
  take(LockType::REENTRANT, 1);
  Subscriber listener = subscribe({std::string(note)});
  const long long before = now_ms();
  EXPECT_EQ(revoke().notified, 1U);
  EXPECT_EQ(listener.next(), std::string(note) + " 1");
  const std::string text = redis({"GET", note}).text();
  EXPECT_GE(std::stoll(text), before);
  EXPECT_EQ(text.substr(text.find(' ')), ' ' + owner(1));
  expect_ttl(note, lease);
  const auto left = pttl(key);  // first, because time passes between the two
  EXPECT_LE(pttl(note), left);
  EXPECT_EQ(asked(), Ids{owner(1)});
  EXPECT_LT(*client.inspect(key).holders.at(0).revoked, lease);
  EXPECT_EQ(client.list("*"), std::vector<std::string>{std::string(key)}) << "it is no lock";
  pass(lease / 2);
  EXPECT_EQ(client.renew(key, LockType::REENTRANT, id(1), lease).kind, Kind::granted);
  EXPECT_EQ(asked(), Ids{owner(1)});
  pass(lease / 2);
  EXPECT_EQ(client.inspect(key).holders.size(), 1U);
  EXPECT_EQ(asked(), Ids{}) << "the lease that ran then has ended";
  EXPECT_EQ(keys(), std::vector<std::string>{std::string(key)});
}

TEST_F(RevocationScript, TellsOfNoLaterHolder) {
  Subscriber listener = subscribe({std::string(note)});
  take(LockType::REENTRANT, 1);
  revoke();
  EXPECT_EQ(client.send(Verb::release, key, LockType::REENTRANT, id(1)).kind, Kind::granted);
  EXPECT_EQ(asked(), Ids{});
  take(LockType::REENTRANT, 2);
  EXPECT_EQ(asked(), Ids{});
  EXPECT_GT(pttl(note), 0) << "it ends by itself";
}

TEST_F(RevocationScript, NothingIsStoredIfNobodyHearsItOrNobodyHolds) {
  take(LockType::REENTRANT, 1);
  EXPECT_EQ(revoke().notified, 0U);
  EXPECT_EQ(redis({"EXISTS", note}).integer(), 0);
  Subscriber listener = subscribe({std::string(note), "latchkey_revoke:{free}"});
  EXPECT_EQ(revoke("free").notified, 1U);
  EXPECT_EQ(keys(), std::vector<std::string>{std::string(key)});
  EXPECT_EQ(client.inspect("free").locked, false);
}

TEST_F(RevocationScript, NamesEachReaderAndAWriterThatBecameAReader) {
  Subscriber listener = subscribe({std::string(note)});
  take(LockType::WRITE, 1);
  revoke();
  EXPECT_EQ(asked(), Ids{owner(1)});
  EXPECT_EQ(client.downgrade(key, id(1), lease).kind, Kind::granted);
  EXPECT_EQ(asked(), Ids{owner(1)});
  take(LockType::READ, 2);
  EXPECT_EQ(asked(), Ids{owner(1)}) << "it came later";
  revoke();
  EXPECT_EQ(asked().size(), 2U);
}

TEST_F(RevocationScript, ANameInBracesHasANoteOfItsOwn) {
  Subscriber listener = subscribe({std::string(note), "latchkey_revoke:{k}:"});
  take(LockType::REENTRANT, 1);
  take(LockType::REENTRANT, 2, "{k}");
  EXPECT_EQ(revoke("{k}").notified, 1U);
  EXPECT_EQ(asked(), Ids{});
  EXPECT_EQ(asked("{k}"), Ids{owner(2)});
  revoke();
  EXPECT_EQ(asked(), Ids{owner(1)});
  EXPECT_EQ(asked("{k}"), Ids{owner(2)});
}

TEST_F(RevocationScript, NamesThePermitsThatAreTaken) {
  Subscriber listener = subscribe({std::string(note)});
  EXPECT_EQ(acquire(1, 2).kind, Kind::granted);
  EXPECT_EQ(asked(look()), Ids{});
  EXPECT_EQ(revoke().notified, 1U);
  EXPECT_EQ(asked(look()).size(), 2U);
  expect_ttl(note, lease);
  EXPECT_EQ(acquire(2).kind, Kind::granted);
  EXPECT_EQ(asked(look()).size(), 2U);
  EXPECT_EQ(look().holders.size(), 3U);
  EXPECT_EQ(send(Verb::release, 1, 2), Kind::granted);
  EXPECT_EQ(asked(look()), Ids{});
}

TEST_F(RevocationScript, ALeaseWithoutAnEndIsFoundAskedForAMinute) {
  Subscriber listener = subscribe({std::string(note)});
  take(LockType::REENTRANT, 1);
  redis({"PERSIST", key});
  revoke();
  expect_ttl(note, milliseconds(60'000));
  EXPECT_EQ(asked(), Ids{owner(1)});
}

TEST_F(RevocationScript, IsPublishedAlthoughTheNoteCannotBeWritten) {
  Subscriber listener = subscribe({std::string(note)});
  take(LockType::REENTRANT, 1);
  const auto expect_no_note = [&](ScriptClient& user) {
    const Outcome outcome = user.send(Verb::revoke, key);
    EXPECT_EQ(outcome.kind, Kind::granted) << outcome.reason;
    EXPECT_EQ(outcome.notified, 1U);
    EXPECT_EQ(listener.next(), std::string(note) + " 1");
    EXPECT_EQ(asked(), Ids{});
    EXPECT_EQ(redis({"EXISTS", note}).integer(), 0);
  };
  for (const std::string_view command : {"-set", "-hgetall", "-time", "-pttl"}) {
    SCOPED_TRACE(command);
    ScriptClient user = as_user({"~*", server.all_channels(), "+@all", command});
    expect_no_note(user);
  }
  {
    SCOPED_TRACE("no permission for the key");
    ScriptClient user = as_user({"~k", server.all_channels(), "+@all"});
    expect_no_note(user);
  }
  redis({"CONFIG", "SET", "maxmemory", "1"});
  expect_no_note(client);
  redis({"CONFIG", "SET", "maxmemory", "0"});
}

TEST_F(RevocationScript, AStrangeNoteIsNone) {
  take(LockType::REENTRANT, 1);
  for (const std::string& text : {std::string(), std::string("x"), ' ' + owner(1), owner(1),
                                  std::string("99999999999999999999999")}) {
    redis({"SET", note, text});
    EXPECT_EQ(asked(), Ids{}) << text;
  }
  redis({"DEL", note});
  redis({"RPUSH", note, "x"});
  EXPECT_EQ(asked(), Ids{});
}

}  // namespace
}  // namespace latchkey::tests
