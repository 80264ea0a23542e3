// The Redis names that a lock uses, and the names that a lock may not have.
#include "redis/protocol/names.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace latchkey::detail::redis {
namespace {

HoldId id(std::uint64_t number) { return {{0x6ad76760e86c4273, 0xa5a4ad3e58e61a2b}, number}; }

TEST(RedisNames, OwnerIsTheTextOfTheId) {
  for (const std::uint64_t number :
       {std::uint64_t{1}, std::uint64_t{35}, std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(std::string_view(OwnerText(id(number))), id(number).text());
  }
  EXPECT_EQ(std::string_view(OwnerText(id(35))), "6ad76760-e86c-4273-a5a4-ad3e58e61a2b:35");
  EXPECT_EQ(std::string_view(OwnerText({{0, 1}, 2})), "00000000-0000-0000-0000-000000000001:2");
}

Request subscribe(std::string_view key, LockType type) {
  Request request;
  request.verb = Verb::subscribe;
  request.key = key;
  request.type = type;
  request.id = id(7);
  return request;
}

TEST(RedisNames, AQueueNamesItsLocks) {
  using Keys = std::array<std::string_view, 2>;
  EXPECT_EQ(LocksOfQueue("latchkey_process_queue:{a}").keys, (Keys{"a", ""}));
  EXPECT_EQ(LocksOfQueue("latchkey_process_queue:{a}:b:").keys, (Keys{"{a}:b", ""}));
  EXPECT_EQ(LocksOfQueue("latchkey_process_queue:{a}:").keys, (Keys{"{a}", ""}));
  EXPECT_EQ(LocksOfQueue("redisson_lock_queue:{a}").keys, (Keys{"a", "{a}"}));
  EXPECT_EQ(LocksOfQueue("redisson_lock_queue:{a}:b").keys, (Keys{"{a}:b", ""}));
  EXPECT_EQ(LocksOfQueue("{a}").keys, (Keys{"", ""}));
}

TEST(RedisNames, AKeyHasAPlainAndAReadWriteChannel) {
  for (const LockType type :
       {LockType::REENTRANT, LockType::FENCED, LockType::READ, LockType::WRITE}) {
    const Channels channels = channels_of(subscribe("order:42", type));
    EXPECT_EQ(channels.names[0], "redisson_lock__channel:{order:42}");
    EXPECT_EQ(channels.names[1], "redisson_rwlock:{order:42}");
  }
  const Channels tagged = channels_of(subscribe("{order}:42", LockType::WRITE));
  EXPECT_EQ(tagged.names[0], "redisson_lock__channel:{order}:42");
  EXPECT_EQ(tagged.names[1], "redisson_rwlock:{order}:42");
}

TEST(RedisNames, AFairWaiterHasAChannelOfItsOwn) {
  const Channels channels = channels_of(subscribe("order:42", LockType::FAIR));
  EXPECT_EQ(channels.names[0], "redisson_lock__channel:{order:42}");
  EXPECT_EQ(channels.names[1],
            "redisson_lock__channel:{order:42}:6ad76760-e86c-4273-a5a4-ad3e58e61a2b:7");
}

TEST(RedisNames, AProcessInTheQueueHasAChannelOfItsOwn) {
  Request request = subscribe("order:42", LockType::REENTRANT);
  request.queues = true;
  const Channels channels = channels_of(request);
  ASSERT_EQ(channels.all().size(), 1U);
  EXPECT_EQ(channels.names[0],
            "redisson_lock__channel:{order:42}:6ad76760-e86c-4273-a5a4-ad3e58e61a2b");
}

TEST(RedisNames, AReleaseKnowsWhoWaitsInLineByAChannelBesideEach) {
  Request request = subscribe("order:42", LockType::REENTRANT);
  request.in_line = true;
  const Channels channels = channels_of(request);
  ASSERT_EQ(channels.all().size(), 4U);
  EXPECT_EQ(channels.names[0], "redisson_lock__channel:{order:42}");
  EXPECT_EQ(channels.names[1], "redisson_rwlock:{order:42}");
  EXPECT_EQ(channels.names[2], "redisson_lock__channel:{order:42}:in_line");
  EXPECT_EQ(channels.names[3], "redisson_rwlock:{order:42}:in_line");
}

TEST(RedisNames, ValidNamesAreAccepted) {
  using namespace std::string_view_literals;
  for (const std::string_view name :
       {"a"sv, "order:42"sv, "{order}:42"sv, "x{y}z{"sv, "{a}}"sv, "}{a}"sv, "{{a}"sv, "a b\r\n"sv,
        "nul\0nul"sv, "\xC3\xBC"sv, "redisson_lock"sv, "my:redisson_lock_queue:x"sv}) {
    EXPECT_EQ(refuse_name(name), std::nullopt) << name;
  }
}

TEST(RedisNames, BracesWithoutAHashTagAreRejected) {
  for (const std::string_view name : {"a{b", "a}b", "{}x", "x{}{y}", "}{", "{", "}", "{}"}) {
    const auto refusal = refuse_name(name);
    ASSERT_TRUE(refusal) << name;
    EXPECT_EQ(*refusal, "the name '" + std::string(name) +
                            "' has braces that make no hash tag: enclose a part of it, as in "
                            "{order}:42, or use none");
  }
}

TEST(RedisNames, ReservedPrefixesAreRejected) {
  for (const std::string_view name :
       {"redisson_lock_queue:{k}", "redisson_lock_timeout:{k}", "redisson_lock_token:{k}",
        "redisson_lock__channel:{k}", "redisson_rwlock:{k}", "latchkey_revoke:{k}"}) {
    const auto refusal = refuse_name(name);
    ASSERT_TRUE(refusal) << name;
    EXPECT_NE(refusal->find(name), std::string::npos);
    EXPECT_NE(refusal->find("is reserved for the keys beside a lock: choose another"),
              std::string::npos)
        << *refusal;
  }
}

}  // namespace
}  // namespace latchkey::detail::redis
