// The guard in Redis: its script, and run_fenced by hiredis.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/fence.hpp>
#include <latchkey/fences/redis.hpp>

#include "stores/fences/servers.hpp"
#include "support/refusal.hpp"

namespace latchkey::tests {
namespace {

using ::testing::HasSubstr;

using Connection = std::unique_ptr<redisContext, void (*)(redisContext*)>;

Connection connected(redisContext* context) {
  if (context == nullptr || context->err != 0) throw std::runtime_error("no connection to Redis");
  return {context, redisFree};
}

std::string text_of(const redis::ReplyPointer& reply) {
  if (reply->type == REDIS_REPLY_INTEGER) return std::to_string(reply->integer);
  if (reply->type == REDIS_REPLY_NIL) return "nil";
  return {reply->str, static_cast<std::size_t>(reply->len)};
}

class RedisFence : public ::testing::Test {
 protected:
  RedisFence() { command({"FLUSHALL"}); }

  std::string command(std::initializer_list<std::string_view> words) {
    std::vector<const char*> starts;
    std::vector<std::size_t> sizes;
    for (const std::string_view word : words) {
      starts.push_back(word.data());
      sizes.push_back(word.size());
    }
    return text_of(redis::ReplyPointer(static_cast<redisReply*>(redisCommandArgv(
        connection_.get(), static_cast<int>(words.size()), starts.data(), sizes.data()))));
  }
  std::string fenced(std::uint64_t token, std::initializer_list<std::string_view> words,
                     std::size_t keys = 1) {
    return text_of(redis::run_fenced(connection_.get(), fence(token), words, keys));
  }
  static Fence fence(std::uint64_t token) { return {.key = "order:42", .token = token}; }

  Connection connection_ = connected(redisConnectUnix(redis_socket().c_str()));
};

TEST_F(RedisFence, RunsTheCommandAndReturnsItsReply) {
  EXPECT_EQ(fenced(9, {"SET", "total", "17"}), "OK");
  EXPECT_EQ(fenced(9, {"INCRBY", "total", "5"}), "22");
  EXPECT_EQ(fenced(10, {"GET", "total"}), "22");
  EXPECT_EQ(fenced(10, {"GET", "nothing"}), "nil");
  EXPECT_EQ(fenced(11, {"DBSIZE"}), "2");
  EXPECT_EQ(command({"GET", "latchkey_seen_fence:{order:42}"}), "11");
}

TEST_F(RedisFence, RefusesALowerTokenAndRunsNothing) {
  fenced(10, {"SET", "total", "new"});
  try {
    fenced(9, {"SET", "total", "old"});
    FAIL() << "not refused";
  } catch (const FenceRejected& error) {
    EXPECT_EQ(error.key(), "order:42");
    EXPECT_EQ(error.presented(), 9U);
    EXPECT_EQ(error.highest(), 10U);
  }
  EXPECT_EQ(command({"GET", "total"}), "new");
}

TEST_F(RedisFence, PassesSeveralKeysAndWordsInTheirOrder) {
  EXPECT_EQ(fenced(1, {"HSET", "hash", "field", "a b\r\n"}), "1");
  EXPECT_EQ(command({"HGET", "hash", "field"}), "a b\r\n");
  EXPECT_EQ(fenced(1, {"RENAME", "hash", "other"}, 2), "OK");
  EXPECT_EQ(fenced(1, {"DEL", "hash", "other", "none"}, 3), "1");
}

// A number of Lua, or of JSON, cannot tell these from each other.
TEST_F(RedisFence, ComparesTokensBeyondWhatLuaCounts) {
  constexpr std::uint64_t large = (std::uint64_t{1} << 53U) + 1;
  fenced(large, {"SET", "total", "new"});
  EXPECT_THROW(fenced(large - 1, {"SET", "total", "old"}), FenceRejected);
  EXPECT_THROW(fenced(999, {"SET", "total", "old"}), FenceRejected);
  fenced(UINT64_MAX, {"SET", "total", "newest"});
  EXPECT_THROW(fenced(UINT64_MAX - 1, {"SET", "total", "old"}), FenceRejected);
}

TEST_F(RedisFence, AnErrorOfTheCommandIsAnErrorWithItsWords) {
  command({"SET", "total", "17"});
  EXPECT_THAT(refusal([&] { fenced(1, {"HGET", "total", "field"}); }),
              HasSubstr("the command under the fence order:42/FENCED/1 was refused: WRONGTYPE"));
  EXPECT_THAT(refusal([&] { fenced(1, {}); }), HasSubstr("was refused: it has no words"));
}

TEST_F(RedisFence, AForeignValueInTheKeyOfTheFenceIsAnError) {
  command({"SET", "latchkey_seen_fence:{order:42}", "abc"});
  EXPECT_THAT(refusal([&] { fenced(1, {"SET", "total", "1"}); }),
              HasSubstr("the key of the fence has a value that is no token"));
  EXPECT_EQ(command({"GET", "total"}), "nil");
}

TEST_F(RedisFence, AConnectionThatBreaksIsAnErrorThatSaysSo) {
  const Connection other = connected(redisConnectUnix(redis_socket().c_str()));
  const redis::ReplyPointer id(static_cast<redisReply*>(redisCommand(other.get(), "CLIENT ID")));
  command({"CLIENT", "KILL", "ID", text_of(id)});
  EXPECT_THAT(refusal([&] { redis::run_fenced(other.get(), fence(1), {"SET", "total", "1"}); }),
              HasSubstr("had no reply, so it may have run"));
}

TEST_F(RedisFence, TheScriptChecksItsToken) {
  const std::string script(redis::fence_script());
  EXPECT_EQ(command({"EVAL", script, "1", "f", "12", "DBSIZE"}), "1");
  EXPECT_EQ(command({"EVAL", script, "1", "f", "11", "DBSIZE"}), "STALEFENCE 12");
  for (const char* const wrong : {"", "0", "-1", "012", "12x", "1e9"}) {
    EXPECT_THAT(command({"EVAL", script, "1", "f", wrong, "DBSIZE"}),
                HasSubstr("the token of a fence must be a decimal number from 1"));
  }
}

// docs/fencing.md, "Redis".
TEST_F(RedisFence, TheSnippetOfThePageRuns) {
  redisContext* const context = connection_.get();
  const Fence fence{.key = "order:42", .token = 9};
  command({"SET", "{order:42}:a", "1"});
  // clang-format off: the page's own lines
  latchkey::redis::run_fenced(context, fence, {"SET", "{order:42}:state", "paid"});
  latchkey::redis::run_fenced(context, fence, {"DEL", "{order:42}:a", "{order:42}:b"}, 2);
  // clang-format on
  EXPECT_EQ(command({"GET", "{order:42}:state"}), "paid");
  EXPECT_EQ(command({"EXISTS", "{order:42}:a"}), "0");
  EXPECT_EQ(command({"EVAL", redis::fence_script(), "2", "latchkey_seen_fence:{order:42}",
                     "{order:42}:state", "10", "SET", "sent"}),
            "OK");
  EXPECT_EQ(command({"GET", "{order:42}:state"}), "sent");
}

TEST(RedisFenceKey, HasTheHashTagOfTheKey) {
  EXPECT_EQ(redis::fence_key({.key = "order:42"}), "latchkey_seen_fence:{order:42}");
  EXPECT_EQ(redis::fence_key({.key = "{order:42}"}), "latchkey_seen_fence:{order:42}");
  EXPECT_EQ(redis::fence_key({.key = "a{b}c"}), "latchkey_seen_fence:a{b}c");
}

TEST(RedisFenceInACluster, NeedsAKeyOfTheSameSlot) {
  const Connection node = connected(redisConnect("127.0.0.1", redis_cluster_port()));
  const Fence fence{.key = "order:42", .token = 7};
  EXPECT_EQ(text_of(redis::run_fenced(node.get(), fence, {"SET", "{order:42}:total", "1"})), "OK");
  EXPECT_THAT(refusal([&] { redis::run_fenced(node.get(), fence, {"SET", "total", "1"}); }),
              HasSubstr("CROSSSLOT"));
}

}  // namespace
}  // namespace latchkey::tests
