// SET NX PX locks with a user that lacks one command: a clear refusal, and no lock for ever.
#include "redis/scripts/script_fixture.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <latchkey/locks.hpp>

#include "support/recorder.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using detail::redis::OwnerFormat;
using detail::redis::Script;
using detail::redis::set_layout;

class SetPermissions : public ScriptTest {
 protected:
  const detail::redis::Layout& layout = set_layout(OwnerFormat::hold_id);

  ScriptClient as_user_without(const std::string& command) {
    redis({"ACL", "SETUSER", "app", "reset", "on", ">secret", "~*", server.all_channels(), "+@all",
           "-" + command});
    RedisClient user = server.client();
    EXPECT_FALSE(user({"AUTH", "app", "secret"}).is_error());
    return ScriptClient(std::move(user), {.layout = &layout});
  }

  ScriptClient set{server.client(), {.layout = &layout}};
};

/// Whether the script works, if less well, without the command.
bool does_without(std::string_view script, std::string_view command) {
  return command == "publish" || command == "dbsize" ||
         ((script == "set_inspect" || script == "set_release") && command == "pubsub");
}

TEST_F(SetPermissions, EachRefusalNamesTheCommandAndNoKeyLacksATtl) {
  for (const Verb verb : {Verb::acquire, Verb::renew, Verb::verify, Verb::expire, Verb::release,
                          Verb::force_release}) {
    for (const LockType type : {LockType::REENTRANT, LockType::FENCED}) {
      const Request request = ScriptClient::make_request(verb, "k", type, id(1),
                                                         verb == Verb::expire ? lease / 4 : lease);
      const Script& script = script_for(request, layout);
      for (const std::string& command : commands_of(script)) {
        SCOPED_TRACE(std::string(script.name) + " without " + command);
        redis({"FLUSHALL"});
        // A held lock for the commands of a holder, and a repeated acquire.
        set.acquire("k", type, id(1), lease / 2);
        if (verb == Verb::acquire && (command == "set" || command == "time")) redis({"DEL", "k"});
        ScriptClient user = as_user_without(command);
        const Outcome outcome = user.send(request);
        if (outcome.kind == Kind::refused) {
          EXPECT_NE(outcome.reason.find("lacks a permission, +" + command + " ("),
                    std::string::npos)
              << outcome.reason;
          EXPECT_EQ(outcome.reason.find("User app"), std::string::npos) << outcome.reason;
        } else {
          // Not every command is needed in this state, such as RENAMENX by a holder.
          EXPECT_EQ(outcome.kind, Kind::granted);
          const bool spared = does_without(script.name, command) || command == "renamenx" ||
                              command == "del" || command == "set" || command == "time";
          EXPECT_TRUE(spared);
        }
        for (const std::string& key : keys()) {
          const bool expires = pttl(key) > 0;
          EXPECT_TRUE(expires || key == "latchkey_set_token:{k}") << key;
        }
      }
    }
  }
}

// The rules of docs/redis.md.
TEST_F(SetPermissions, TheDocumentedRulesAreEnough) {
  std::vector<std::string> rules{"ACL", "SETUSER", "app", "reset", "on", ">secret"};
  if (server.version() >= 602)
    rules.insert(rules.end(), {"resetchannels", "&latchkey_set_channel:*"});
  std::istringstream words(
      "~order:* ~latchkey_set_token:* ~latchkey_holder:* +hello +info +ping +select +client|kill "
      "+eval +evalsha +subscribe +unsubscribe +publish +set +get +del +renamenx +pttl +pexpire "
      "+time +client|tracking +client|caching +exists");
  for (std::string word; words >> word;) rules.push_back(word);
  detail::redis::CommandBuffer command;
  command.begin(rules.size());
  for (const std::string& rule : rules) command.word(rule);
  ASSERT_EQ(redis.send(command.bytes()).text(), "OK");
  const std::string uri = "redis+set://app:secret@127.0.0.1:" + std::to_string(server.port());
  const Locks locks = Locks::connect(uri, {.announce = true});
  EXPECT_TRUE(locks.capabilities().watches);
  const Locks other = Locks::connect(uri);
  for (const LockType type : {LockType::REENTRANT, LockType::FENCED}) {
    Hold hold = locks.lock("order:1", type).acquire(0ms, 30s);
    EXPECT_TRUE(hold.extend(60s));
    EXPECT_FALSE(other.lock("order:1", type).try_acquire(100ms, 30s));
    EXPECT_TRUE(hold.release());
  }
  EXPECT_TRUE(locks.all_of({locks.lock("order:1"), locks.lock("order:2")}).try_acquire(1s, 30s));
  EXPECT_TRUE(eventually([&] { return keys() == Names{"latchkey_set_token:{order:1}"}; }));
}

}  // namespace
}  // namespace latchkey::tests
