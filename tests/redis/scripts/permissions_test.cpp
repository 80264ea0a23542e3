// Forbids each command of each script in turn. The refusal names the command, and no key stays
// blocked for longer than the requested lease.
#include <functional>
#include <map>
#include <set>

#include "redis/scripts/script_fixture.hpp"
#include "support/lock_types.hpp"

namespace latchkey::tests {
namespace {

using detail::redis::Script;

/// Without one of the commands that only parts/process_queue.lua calls in a script, nobody has a
/// place in the queue, or the lock is not granted to the first.
bool is_of_process_queue(std::string_view script, std::string_view command) {
  using Commands = std::set<std::string_view>;
  static const Commands passes{"exists", "get",  "hget",   "hset", "pexpire", "set",
                               "time",   "zadd", "zrange", "zrem", "zscore"};
  static const std::map<std::string_view, Commands> all{
      {"acquire", {"del", "get", "hget", "set", "time", "zadd", "zrange", "zrem", "zscore"}},
      {"acquire_fair", {"del", "get", "hget", "lrem", "set"}},
      {"acquire_fenced", {"del", "hget", "zadd", "zrange", "zrem", "zscore"}},
      {"acquire_write", {"get", "zadd", "zrange", "zrem", "zscore"}},
      {"force_release", {"get", "hdel", "hget", "hset", "lrem", "pexpire", "set", "zrange"}},
      {"inspect", {"zcard"}},
      {"leave_fair", {"del", "get", "hget", "hset", "pexpire", "set", "zrange"}},
      {"release_fair", {"del", "get", "hget", "hset", "lrem", "pexpire", "set", "zrange"}},
      {"release_read", {"get", "hset", "set", "zadd", "zrange", "zrem", "zscore"}}};
  if (script == "leave" || script == "release" || script == "release_write") {
    return passes.contains(command) || (script == "release" && command == "del");
  }
  const auto found = all.find(script);
  return found != all.end() && found->second.contains(command);
}

/// The script continues if this command is refused, or calls it only after another was refused.
bool does_without(std::string_view script, std::string_view command) {
  if (script == "revoke") return command != "publish";  // nothing is noted
  if (command == "publish") return true;                // the notification is lost
  // Nobody is granted the lock by a release; inspect does not know how many wait.
  if (command == "pubsub") return script != "list_awaited";
  if (is_of_process_queue(script, command)) return true;
  // head_left() of parts/fair_queue.lua calls these after the essential steps.
  if (command == "persist" || (command == "lrange" && script != "inspect")) return true;
  // A waiter that is not granted the lock gets its score back, with the TTL that it had.
  if (command == "pttl" && (script == "release_fair" || script == "force_release")) return true;
  // HDEL undoes an acquire whose PEXPIRE was refused.
  const bool one = script.starts_with("acquire") && script != "acquire_all";
  const bool drops_readers = script == "acquire_read" || script == "acquire_write";
  if (command == "hdel" && one && !drops_readers) return true;
  // Nobody is kept out for a WRITE that waits.
  if (script == "acquire_write" && command == "set") return true;
  if (script == "acquire_all" && command == "del") return true;
  // The lock `{a}` is listed as `a`.
  if (script == "list_awaited" && command == "exists") return true;
  // Without EXISTS or HDEL the state of a reader without timeout keys is unknown.
  if (script == "release_read") return command == "exists";
  if (script == "expire_read") return command == "exists" || command == "hdel";
  // The commands of parts/dead_readers.lua.
  const std::set<std::string_view> of_the_part{"exists", "hdel", "hlen", "hscan"};
  // Without DBSIZE, nobody knows how many keys there are.
  if (script == "inspect") return of_the_part.contains(command);
  // The lock is then not kept.
  if (script == "idle") return command == "exists" || command == "hdel";
  // Semaphores are then missing in the list.
  const std::set<std::string_view> finds_semaphores{"time", "type", "zrangebyscore"};
  if (script == "list") return finds_semaphores.contains(command);
  if (script == "list_page") return command == "dbsize" || finds_semaphores.contains(command);
  // The lock is already free. The next waiter polls.
  const std::set<std::string_view> calls_next{"exists", "lindex", "lpop",  "time",
                                              "zadd",   "zrem",   "zscore"};
  if (script == "release_fair" || script == "force_release") return calls_next.contains(command);
  return script == "leave_fair" && command != "lindex" && command != "zrem" &&
         calls_next.contains(command);
}

/// One request in one situation.
struct Case {
  std::string name;
  Request request;
  std::function<void()> prepare = [] {};
};

class ScriptsWithoutACommand : public ScriptTest {
 protected:
  ScriptsWithoutACommand() {
    for (const LockType type : all_types) add_cases_of(type);
    const auto hold = [this](LockType type, std::uint64_t number) {
      return [this, type, number] { take(type, number); };
    };
    cases_.push_back({"several", several()});
    cases_.push_back({"several, held", several(), [this] { client.send(several()); }});
    cases_.push_back({"several, among readers", several(), [this] {
                        take(LockType::READ, 2, "read");
                        take(LockType::READ, 3, "read");
                        end_read_lease(3, "{read}");
                      }});
    const auto dead_readers = [this] {
      for (const std::uint64_t number : {2U, 3U}) {
        take(LockType::READ, number);
        end_read_lease(number);
      }
    };
    cases_.push_back({"acquire of WRITE, dead readers",
                      ScriptClient::make_request(Verb::acquire, "k", LockType::WRITE, id(1), lease),
                      dead_readers});
    Request downgrade =
        ScriptClient::make_request(Verb::downgrade, "k", LockType::WRITE, id(1), lease);
    cases_.push_back({"downgrade", downgrade, hold(LockType::WRITE, 1)});
    cases_.push_back({"downgrade again", downgrade, [this] {
                        take(LockType::WRITE, 1);
                        client.downgrade("k", id(1), lease);
                      }});
    for (const LockType type : {LockType::REENTRANT, LockType::FAIR, LockType::READ}) {
      const std::string of = " of " + std::string(to_string(type));
      cases_.push_back({"force_release" + of, ScriptClient::make_request(Verb::force_release, "k"),
                        [this, type] {
                          take(type, 1);
                          take(type, 2);
                        }});
      Request inspect = ScriptClient::make_request(Verb::inspect, "k");
      inspect.info = &info_;
      cases_.push_back({"inspect" + of, inspect, [this, type] {
                          take(type, 1);
                          take(type, 2);
                        }});
    }
    for (const LockType type : {LockType::REENTRANT, LockType::READ}) {
      for (const Verb verb : {Verb::expire, Verb::renew}) {
        Request idle = ScriptClient::make_request(verb, "k", type, id(1), lease / 4);
        idle.recall = true;
        const std::string name = "idle, " + std::string(to_string(verb)) + ' ';
        cases_.push_back({name + std::string(to_string(type)), idle, hold(type, 1)});
      }
    }
    cases_.push_back(
        {"revoke", ScriptClient::make_request(Verb::revoke, "k"), hold(LockType::REENTRANT, 1)});
    Request list = ScriptClient::make_request(Verb::list, "*");
    list.names = &names_;
    cases_.push_back({"list", list, hold(LockType::REENTRANT, 1)});
    list.part = &part_;
    cases_.push_back({"a page of the list", list, hold(LockType::REENTRANT, 1)});
    list.part = &awaited_;
    cases_.push_back({"list of what is awaited", list, hold(LockType::REENTRANT, 1)});
  }

  void add_cases_of(LockType type) {
    const std::string of = " of " + std::string(to_string(type));
    const auto request = [type](Verb verb) {
      Request made = ScriptClient::make_request(verb, "k", type, id(1), lease);
      made.queue_wait = queue_wait;
      const bool waits = verb == Verb::acquire || verb == Verb::leave;
      made.queues = waits && type != LockType::FAIR && type != LockType::READ;
      if (verb == Verb::expire) made.lease = lease / 4;
      return made;
    };
    const auto holds = [this, type] { take(type, 1); };
    const auto among_others = [this, type] {  // one of which has expired
      take(type, 1);
      for (const std::uint64_t number : {2U, 3U, 4U}) take(type, number, "k", lease / 2);
      end_read_lease(3);
      redis({"ZADD", "redisson_lock_timeout:{k}", "XX", "1", owner(2)});
    };
    const auto is_last = [this, type] {
      take(type, 2);
      take(type, 1);
    };
    const auto shortened = [this, type] {  // as Redisson's renewal does
      take(type, 1);
      redis({"PEXPIRE", "k", "10000"});
    };
    const auto is_next = [this, type] {
      take(type, 2);
      for (const std::uint64_t number : {1U, 3U}) take(type, number);
      client.send(Verb::release, "k", type, id(2));
    };
    const auto is_queued = [this, request] {
      take(request(Verb::release).type, 2);
      client.send(request(Verb::acquire));
    };
    if (type == LockType::WRITE || type == LockType::FAIR) {
      Request fenced = request(Verb::acquire);
      fenced.fenced = true;
      fenced.tokens = 1;
      cases_.push_back({"acquire with a token" + of, fenced});
    }
    for (const Verb verb :
         {Verb::acquire, Verb::renew, Verb::verify, Verb::expire, Verb::release, Verb::leave}) {
      const std::string name = std::string(to_string(verb)) + of;
      cases_.push_back({name, request(verb)});
      cases_.push_back({name + ", held", request(verb), holds});
      cases_.push_back({name + ", among others", request(verb), among_others});
      cases_.push_back({name + ", last in line", request(verb), is_last});
      cases_.push_back({name + ", in the process queue", request(verb), is_queued});
      cases_.push_back({name + ", next in line", request(verb), is_next});
      cases_.push_back({name + ", with a shorter hash", request(verb), shortened});
      cases_.push_back({name + ", busy", request(verb), [this] { take(LockType::WRITE, 9); }});
    }
  }

  Request several() {
    Request request;
    request.verb = Verb::acquire_all;
    request.members = members_;
    request.key = members_.front().key;
    request.lease = lease;
    request.tokens = 1;
    return request;
  }

  void take(LockType type, std::uint64_t number, std::string_view key = "k",
            milliseconds length = lease) {
    client.acquire(key, type, id(number), length, queue_wait);
  }

  /// Sends what latchkey sends after a refusal, as the same user.
  void send_follow_up(ScriptClient& user, const Request& request) {
    if (request.verb == Verb::acquire) {
      const bool fair = request.type == LockType::FAIR;
      Request follow_up = request;
      follow_up.verb = fair || request.queues ? Verb::leave : Verb::release;
      user.send(follow_up);
    } else if (request.verb == Verb::acquire_all) {
      for (const Member& each : members_) {
        user.send(Verb::release, each.key, each.type, each.id);
      }
    } else if (request.verb == Verb::downgrade) {
      user.send(Verb::release, "k", LockType::WRITE, id(1));
    } else {
      user.send(request);
    }
  }

  void expect_every_key_expires() {
    for (const std::string& key : keys()) {
      // A token never ends, and places in a queue end by their scores.
      if (key.starts_with("redisson_lock_")) continue;
      const long long left = pttl(key);
      EXPECT_NE(left, -1) << key;
      EXPECT_LE(left, lease.count()) << key;
    }
  }

  void expect_nothing_blocks(const Request& request) {
    expect_every_key_expires();
    pass(std::chrono::minutes(20));
    const auto expect_free = [&](std::string_view key, LockType type) {
      EXPECT_EQ(client.acquire(key, type, id(99), lease, queue_wait).kind, Kind::granted) << key;
    };
    if (request.verb != Verb::acquire_all) return expect_free("k", request.type);
    for (const Member& each : members_) expect_free(each.key, each.type);
  }

  const std::vector<Member> members_{{"plain", LockType::REENTRANT, id(1)},
                                     {"fenced", LockType::FENCED, id(1)},
                                     {"write", LockType::WRITE, id(1)},
                                     {"read", LockType::READ, id(1)}};
  std::vector<Case> cases_;
  LockInfo info_;
  std::vector<std::string> names_;
  ListPart part_;
  ListPart awaited_{.awaited = true};
  Subscriber waiter_ = subscribe({"redisson_lock__channel:{k}", "latchkey_revoke:{k}"});
};

TEST_F(ScriptsWithoutACommand, EachRefusalNamesTheCommandAndNothingBlocksBeyondTheLease) {
  std::set<std::string> scripts, refused;
  for (const Case& each : cases_) {
    const Script& script = detail::redis::script_for(each.request);
    scripts.emplace(script.name);
    for (const std::string& command : commands_of(script)) {
      SCOPED_TRACE(each.name + " without " + command);
      const std::string rule = "-" + command;
      redis({"FLUSHALL"});
      each.prepare();
      ScriptClient user = as_user({"~*", server.all_channels(), "+@all", rule});
      const Outcome outcome = user.send(each.request);
      if (outcome.kind == Kind::refused) {
        const char* const with = each.request.fenced ? " with a token " : " ";
        refused.insert(std::string(script.name) + with + command);
        EXPECT_NE(outcome.reason.find("lacks a permission, +" + command + " ("), std::string::npos)
            << outcome.reason;
        EXPECT_EQ(outcome.reason.find("User app"), std::string::npos) << outcome.reason;
        // The connection may be gone before more can be sent.
        if (command != "hdel") expect_every_key_expires();
        send_follow_up(user, each.request);
      }
      // connect() refuses a user without HDEL: see RedisStart.
      if (command != "hdel") expect_nothing_blocks(each.request);
    }
  }
  for (const char* const token :
       {"acquire_write with a token get", "acquire_write with a token set",
        "acquire_fair with a token get", "acquire_fair with a token set"}) {
    EXPECT_TRUE(refused.contains(token)) << token;
  }
  for (const Script* const script : detail::redis::scripts::all()) {
    if (script->name == "announce" || script->name == "check_batch") continue;  // for no request
    if (script->name.starts_with("set_")) continue;    // see SetPermissions
    if (script->name.ends_with("_permits")) continue;  // see PermitsWithoutACommand
    if (script->name.starts_with("latch_")) continue;  // see LatchesWithoutACommand
    EXPECT_TRUE(scripts.contains(std::string(script->name))) << script->name;
    for (const std::string& command : commands_of(*script)) {
      const std::string both = std::string(script->name) + " " + command;
      EXPECT_NE(refused.contains(both), does_without(script->name, command)) << both;
    }
  }
}

TEST_F(ScriptsWithoutACommand, ARefusedAnnouncementLeavesNoKeyWithoutATtl) {
  for (const std::string& command : commands_of(detail::redis::scripts::announce)) {
    SCOPED_TRACE(command);
    redis({"FLUSHALL"});
    take(LockType::REENTRANT, 1);
    Request request =
        ScriptClient::make_request(Verb::acquire, "k", LockType::REENTRANT, id(1), lease);
    request.note = "somebody";
    detail::redis::CommandBuffer buffer;
    ASSERT_TRUE(append_note(buffer, request));
    const std::string rule = "-" + command;
    RedisClient user = client_of_user({"~*", server.all_channels(), "+@all", rule});
    EXPECT_TRUE(user.send(buffer.bytes()).is_error());
    for (const std::string& key : keys()) EXPECT_GT(pttl(key), 0) << key;
  }
}

}  // namespace
}  // namespace latchkey::tests
// tidy: long-file because the table of what each script does without belongs to its test
