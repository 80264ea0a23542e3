// Encodes requests as RESP, without allocations.
#include "redis/protocol/script_call.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redis/protocol/names.hpp"
#include "support/allocations.hpp"
#include "support/lock_types.hpp"

namespace latchkey::detail::redis {
namespace {

using namespace std::string_view_literals;
using tests::all_types;

constexpr Verb scripted[] = {Verb::acquire, Verb::renew,        Verb::verify, Verb::downgrade,
                             Verb::expire,  Verb::release,      Verb::leave,  Verb::inspect,
                             Verb::list,    Verb::force_release};

Request about(Verb verb, std::string_view key, LockType type = LockType::REENTRANT) {
  Request request;
  request.verb = verb;
  request.type = type;
  request.key = key;
  request.id = {{0x6ad76760e86c4273, 0xa5a4ad3e58e61a2b}, 7};
  request.lease = std::chrono::milliseconds(30'000);
  request.queue_wait = std::chrono::milliseconds(15'000);
  return request;
}

/// The words of the one command in the buffer; none if there is not exactly one.
std::vector<std::string> words_of(std::string_view bytes) {
  std::vector<std::string> words;
  const auto number = [&](char sign) {
    if (bytes.empty() || bytes[0] != sign) return std::size_t{0};
    const std::size_t end = bytes.find("\r\n");
    const std::size_t value = std::stoul(std::string(bytes.substr(1, end - 1)));
    bytes.remove_prefix(end + 2);
    return value;
  };
  for (std::size_t left = number('*'); left > 0; --left) {
    const std::size_t size = number('$');
    words.emplace_back(bytes.substr(0, size));
    if (bytes.substr(size, 2) != "\r\n") return {};
    bytes.remove_prefix(size + 2);
  }
  return bytes.empty() ? words : std::vector<std::string>{};
}

std::vector<std::string> call(const Request& request, bool sharded = false,
                              std::uint64_t cursor = 0) {
  CommandBuffer buffer;
  append_evalsha(buffer, request, {.sharded_publish = sharded}, cursor);
  return words_of(buffer.bytes());
}

using Words = std::vector<std::string>;
constexpr std::string_view owner = "6ad76760-e86c-4273-a5a4-ad3e58e61a2b:7";

TEST(CommandBufferTest, EncodesBinarySafeResp) {
  CommandBuffer buffer;
  buffer.begin(3);
  buffer.word("SET");
  buffer.word({"a", "", "\r\n\0$"sv});
  buffer.number(-17);
  EXPECT_EQ(buffer.bytes(), "*3\r\n$3\r\nSET\r\n$5\r\na\r\n\0$\r\n$3\r\n-17\r\n"sv);
}

TEST(CommandBufferTest, SentBytesAreDropped) {
  CommandBuffer buffer;
  EXPECT_TRUE(buffer.empty());
  buffer.command({"PING"});
  buffer.drop_front(4);
  EXPECT_EQ(buffer.bytes(), "$4\r\nPING\r\n");
  buffer.command({"X"});
  EXPECT_EQ(buffer.bytes(), "$4\r\nPING\r\n*1\r\n$1\r\nX\r\n");
  buffer.drop_front(buffer.bytes().size());
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.bytes(), "");
}

TEST(ScriptCall, AcquireContainsDigestKeyLeaseAndOwner) {
  EXPECT_EQ(call(about(Verb::acquire, "k")),
            (Words{"EVALSHA", std::string(scripts::acquire.sha1), "1", "k", "30000",
                   std::string(owner), "{k}", "0", "0"}));
}

TEST(ScriptCall, EvalContainsTheTextAndTheSameArguments) {
  for (const Verb verb : scripted) {
    for (const LockType type : all_types) {
      const Request request = about(verb, "k", type);
      Words by_digest = call(request);
      CommandBuffer buffer;
      append_eval(buffer, request, {});
      Words by_text = words_of(buffer.bytes());
      ASSERT_GE(by_text.size(), 3U);
      EXPECT_EQ(by_text[0], "EVAL");
      EXPECT_EQ(by_text[1], script_for(request).text);
      EXPECT_EQ(by_digest[1], script_for(request).sha1);
      by_text.erase(by_text.begin(), by_text.begin() + 2);
      by_digest.erase(by_digest.begin(), by_digest.begin() + 2);
      EXPECT_EQ(by_text, by_digest);
    }
  }
}

TEST(ScriptCall, KeysFollowTheTagRule) {
  const Words fair = call(about(Verb::acquire, "k", LockType::FAIR), true);
  EXPECT_EQ(Words(fair.begin() + 2, fair.end()),
            (Words{"3", "k", "redisson_lock_queue:{k}", "redisson_lock_timeout:{k}", "30000",
                   std::string(owner), "15000", "redisson_lock__channel:{k}", "1"}));
  const Words read = call(about(Verb::release, "{a}b", LockType::READ));
  EXPECT_EQ(Words(read.begin() + 2, read.end()),
            (Words{"2", "{a}b", std::string("{a}b:").append(owner).append(":rwlock_timeout:1"),
                   std::string(owner), "{a}b", "redisson_rwlock:{a}b", "0"}));
  const Words fenced = call(about(Verb::acquire, "k", LockType::FENCED));
  EXPECT_EQ(fenced[4], "redisson_lock_token:{k}");
  EXPECT_EQ(fenced[7], "1");
  EXPECT_EQ(call(about(Verb::verify, "k", LockType::WRITE)).back(),
            std::string(owner).append(":write"));
}

// All else stays as it is without a token, and so what Redisson sees.
TEST(ScriptCall, AWriteOrFairWithATokenAlsoHasItsKeyAndHowMany) {
  for (const LockType type : {LockType::WRITE, LockType::FAIR}) {
    Request request = about(Verb::acquire, "k", type);
    request.tokens = 64;
    const Words plain = call(request);
    request.fenced = true;
    Words fenced = call(request);
    EXPECT_EQ(fenced[1], plain[1]) << "the same script";
    EXPECT_EQ(fenced.back(), "64");
    fenced.pop_back();
    const std::size_t keys = type == LockType::WRITE ? 1 : 3;
    EXPECT_EQ(fenced[2], std::to_string(keys + 1));
    EXPECT_EQ(fenced[3 + keys], "redisson_lock_token:{k}");
    fenced.erase(fenced.begin() + static_cast<std::ptrdiff_t>(3 + keys));
    fenced[2] = plain[2];
    EXPECT_EQ(fenced, plain);
  }
}

TEST(ScriptCall, AListContinuesAtItsCursor) {
  EXPECT_EQ(
      call(about(Verb::list, "order:*"), false, 18'446'744'073'709'551'615U),
      (Words{"EVALSHA", std::string(scripts::list.sha1), "0", "18446744073709551615", "order:*"}));
}

TEST(ScriptCall, APartOfAListHasItsCursorAndBudget) {
  Request request = about(Verb::list, "order:*");
  ListPart part;
  part.cursor.position = 42;
  part.budget = 100;
  request.part = &part;
  EXPECT_EQ(call(request),
            (Words{"EVALSHA", std::string(scripts::list_page.sha1), "0", "42", "order:*", "100"}));
  part.awaited = true;
  EXPECT_EQ(call(request, true),
            (Words{"EVALSHA", std::string(scripts::list_awaited.sha1), "0", "order:*", "100",
                   "redisson_lock__channel:", "redisson_rwlock:", "1"}));
}

TEST(ScriptCall, MembersAreEncodedInOrder) {
  const HoldId id = about(Verb::acquire, "k", LockType::READ).id;
  const Member members[] = {
      {"k", LockType::FENCED, id}, {"{a}b", LockType::READ, id}, {"w", LockType::WRITE, id}};
  Request all = about(Verb::acquire_all, "k", LockType::REENTRANT);
  all.members = members;
  all.tokens = 0;
  const std::string one(owner);
  EXPECT_EQ(call(all), (Words{"EVALSHA", std::string(scripts::acquire_all.sha1), "5", "k",
                              "redisson_lock_token:{k}", "{a}b",
                              "{a}b:" + one + ":rwlock_timeout:1", "w", "30000", "1", "FENCED", one,
                              "READ", one, "{a}b", "WRITE", one + ":write", "{w}"}));
}

TEST(ScriptCall, AMemberThatIsAWriteWithATokenHasAWordOfItsOwn) {
  const HoldId id = about(Verb::acquire, "k", LockType::READ).id;
  const Member members[] = {{"w", LockType::WRITE, id, 0, true}, {"v", LockType::WRITE, id}};
  Request all = about(Verb::acquire_all, "w", LockType::REENTRANT);
  all.members = members;
  const std::string writer = std::string(owner) + ":write";
  EXPECT_EQ(call(all), (Words{"EVALSHA", std::string(scripts::acquire_all.sha1), "3", "w",
                              "redisson_lock_token:{w}", "v", "30000", "1", "FENCED_WRITE", writer,
                              "{w}", "WRITE", writer, "{v}"}));
}

TEST(ScriptCall, ARevocationIsPublishedOnAChannelOfTheKeyAlone) {
  const std::string sha(scripts::revoke.sha1);
  EXPECT_EQ(call(about(Verb::revoke, "k")),
            (Words{"EVALSHA", sha, "1", "k", "latchkey_revoke:{k}", "0", "{k}:timeout"}));
  EXPECT_EQ(call(about(Verb::revoke, "{k}"), true),
            (Words{"EVALSHA", sha, "1", "{k}", "latchkey_revoke:{k}:", "1", "{k}:timeout"}));
  Request listen = about(Verb::subscribe, "{k}", LockType::FAIR);
  listen.revocations = true;
  const Channels channels = channels_of(listen);
  ASSERT_EQ(channels.count, 1U);
  EXPECT_EQ(channels.names[0], "latchkey_revoke:{k}:");
}

void collect_used(const Layout& layout, std::vector<const Script*>& used) {
  used.insert(used.end(), {layout.announce, layout.check_batch});
  const auto use = [&](const Request& request) { used.push_back(&script_for(request, layout)); };
  use(about(Verb::acquire_all, "k", LockType::READ));
  for (const Verb verb : scripted) {
    if (verb == Verb::downgrade && layout.rw_channel_prefix.empty()) continue;
    for (const LockType type : all_types) use(about(verb, "k", type));
  }
  if (!layout.rw_channel_prefix.empty()) {
    for (const Verb verb : {Verb::acquire, Verb::renew, Verb::verify, Verb::expire, Verb::release,
                            Verb::inspect, Verb::resize, Verb::force_release}) {
      use(about(verb, "k", LockType::PERMIT));
    }
    for (const Verb verb :
         {Verb::latch_set, Verb::latch_down, Verb::latch_count, Verb::latch_delete, Verb::revoke}) {
      use(about(verb, "k"));
    }
  }
  Request leave = about(Verb::leave, "k");
  leave.queues = true;
  use(leave);
  Request idle = about(Verb::expire, "k");
  idle.recall = true;
  use(idle);
  for (const bool awaited : {false, true}) {
    ListPart part;
    part.awaited = awaited;
    Request list = about(Verb::list, "k");
    list.part = &part;
    use(list);
  }
}

TEST(ScriptCall, EveryScriptIsUsed) {
  std::vector<const Script*> used;
  collect_used(redisson_layout, used);
  collect_used(set_layout(OwnerFormat::hold_id), used);
  for (const Script* const script : scripts::all()) {
    EXPECT_NE(std::find(used.begin(), used.end(), script), used.end()) << script->name;
    EXPECT_EQ(script->sha1.size(), 40U);
    EXPECT_EQ(script->text.find("--#include"), std::string_view::npos) << script->name;
  }
}

Words note_of(Verb verb, LockType type) {
  Request request = about(verb, "k", type);
  request.note = "here";
  CommandBuffer buffer;
  return append_note(buffer, request) ? words_of(buffer.bytes()) : Words{};
}

TEST(ScriptCall, ANoteIsStoredExtendedAndDeleted) {
  const std::string place = "latchkey_holder:{k}:" + std::string(owner);
  const std::string script(scripts::announce.text);
  EXPECT_EQ(note_of(Verb::acquire, LockType::READ),
            (Words{"EVAL", script, "2", "k", place, std::string(owner), "here", "30000"}));
  EXPECT_TRUE(note_of(Verb::acquire, LockType::WRITE)[5].ends_with(":7:write"));
  for (const Verb verb : {Verb::renew, Verb::downgrade}) {
    EXPECT_EQ(note_of(verb, LockType::WRITE), (Words{"PEXPIRE", place, "30000"}));
  }
  for (const Verb verb : {Verb::release, Verb::leave}) {
    EXPECT_EQ(note_of(verb, LockType::FAIR), (Words{"DEL", place}));
  }
  EXPECT_EQ(note_of(Verb::verify, LockType::FAIR), Words{});
}

TEST(ScriptCall, AWarmBufferAllocatesNothing) {
  if (!tests::counts_allocations()) GTEST_SKIP() << "the sanitizer's heap is not counted";
  const std::string key(64, 'k');
  CommandBuffer buffer;
  const auto fill = [&] {
    buffer.clear();
    for (const Verb verb : scripted) {
      for (const LockType type : all_types) append_evalsha(buffer, about(verb, key, type), {});
    }
  };
  fill();
  const std::size_t before = tests::allocations();
  fill();
  EXPECT_EQ(tests::allocations(), before);
  const std::string witness(100, 'w');
  EXPECT_GT(tests::allocations(), before) << "the counter works";
}

}  // namespace
}  // namespace latchkey::detail::redis
