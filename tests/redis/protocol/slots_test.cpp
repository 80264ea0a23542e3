// Slots, slot maps and redirections.
#include "redis/session/slots.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "redis/protocol/reply_reader.hpp"

namespace latchkey::detail::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = Redirect::Kind;
using Endpoint = RedisUri::Endpoint;

const Endpoint here{"10.0.0.1", 7000};

std::optional<SlotMap> read(std::string_view bytes) {
  ReplyReader reader;
  EXPECT_TRUE(reader.feed(bytes));
  const redisReply* const reply = reader.next();
  return reply != nullptr ? read_slots(*reply, here) : std::nullopt;
}

// The values of CLUSTER KEYSLOT in Redis 7.0.15.
TEST(Slots, AreComputedAsRedisDoes) {
  EXPECT_EQ(slot_of("123456789"), 0x31C3);
  EXPECT_EQ(slot_of("somekey"), 11058);
  EXPECT_EQ(slot_of("foo{hash_tag}"), 2515);
  EXPECT_EQ(slot_of("foo"), 12182);
  EXPECT_EQ(slot_of(""), 0);
}

TEST(Slots, OnlyTheFirstNonEmptyTagCounts) {
  EXPECT_EQ(slot_of("{user1000}.following"), slot_of("user1000"));
  EXPECT_EQ(slot_of("foo{bar}{zap}"), slot_of("bar"));
  EXPECT_EQ(slot_of("foo{{bar}}zap"), slot_of("{bar"));
  EXPECT_NE(slot_of("foo{}{bar}"), slot_of("bar")) << "an empty tag is none";
  EXPECT_NE(slot_of("foo{bar"), slot_of("bar"));
}

TEST(Slots, AKeyAndItsChannelHaveTheSameSlot) {
  EXPECT_EQ(slot_of("redisson_lock__channel:{order:42}"), slot_of("order:42"));
  EXPECT_EQ(slot_of("redisson_lock__channel:{a}b"), slot_of("{a}b"));
}

TEST(Slots, AMapNamesMastersAndReplicas) {
  const auto map = read(
      "*2\r\n"
      "*4\r\n:0\r\n:5460\r\n*3\r\n$8\r\n10.0.0.1\r\n:7000\r\n$2\r\nid\r\n"
      "*3\r\n$8\r\n10.0.0.2\r\n:7001\r\n$2\r\nid\r\n"
      "*3\r\n:5461\r\n:16383\r\n*4\r\n$4\r\nhost\r\n:7002\r\n$2\r\nid\r\n*0\r\n");
  ASSERT_TRUE(map);
  ASSERT_EQ(map->ranges.size(), 2U);
  EXPECT_EQ(map->ranges[0].last, 5460);
  EXPECT_EQ(map->ranges[0].master, (Endpoint{"10.0.0.1", 7000}));
  EXPECT_EQ(map->ranges[1].master, (Endpoint{"host", 7002}));
  EXPECT_THAT(map->replicas, ElementsAre(Endpoint{"10.0.0.2", 7001}));
}

TEST(Slots, AnEmptyHostIsTheNodeThatReplied) {
  const auto map = read(
      "*2\r\n*3\r\n:0\r\n:1\r\n*3\r\n$0\r\n\r\n:7005\r\n$2\r\nid\r\n"
      "*3\r\n:2\r\n:3\r\n*3\r\n_\r\n:7006\r\n$2\r\nid\r\n");
  ASSERT_TRUE(map);
  EXPECT_EQ(map->ranges[0].master, (Endpoint{"10.0.0.1", 7005}));
  EXPECT_EQ(map->ranges[1].master, (Endpoint{"10.0.0.1", 7006}));
}

TEST(Slots, AnUnknownNodeIsOmitted) {
  const auto map = read("*1\r\n*3\r\n:0\r\n:1\r\n*3\r\n$1\r\n?\r\n:7005\r\n$2\r\nid\r\n");
  ASSERT_TRUE(map);
  EXPECT_THAT(map->ranges, IsEmpty());
}

TEST(Slots, AMalformedMapIsRejected) {
  EXPECT_FALSE(read("-ERR This instance has cluster support disabled\r\n"));
  EXPECT_FALSE(read("*1\r\n:7\r\n"));
  EXPECT_FALSE(read("*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\nh\r\n:1\r\n")) << "no such slot";
  EXPECT_FALSE(read("*1\r\n*2\r\n:0\r\n:1\r\n"));
}

TEST(Redirects, AreReadWithAnyKindOfAddress) {
  const Redirect moved = read_redirect("MOVED 3999 127.0.0.1:6381", here);
  EXPECT_EQ(moved.kind, Kind::moved);
  EXPECT_EQ(moved.slot, 3999);
  EXPECT_EQ(moved.endpoint, (Endpoint{"127.0.0.1", 6381}));
  EXPECT_EQ(read_redirect("ASK 1 ::1:6381", here).endpoint, (Endpoint{"::1", 6381}));
  EXPECT_EQ(read_redirect("ASK 1 ::1:6381", here).kind, Kind::ask);
  EXPECT_EQ(read_redirect("MOVED 1 :6381", here).endpoint, (Endpoint{"10.0.0.1", 6381}));
  EXPECT_EQ(read_redirect("MOVED 1 node-3.example:6381", here).endpoint,
            (Endpoint{"node-3.example", 6381}));
}

TEST(Redirects, TransientErrorsAreRetriedLater) {
  EXPECT_EQ(read_redirect("TRYAGAIN Multiple keys request during rehashing of slot", here).kind,
            Kind::later);
  EXPECT_EQ(read_redirect("CLUSTERDOWN Hash slot not served", here).kind, Kind::later);
  EXPECT_EQ(
      read_redirect("ERR Script attempted to access a non local key in a cluster node", here).kind,
      Kind::later);
}

TEST(Redirects, AMalformedRedirectIsIgnored) {
  for (const char* const text :
       {"MOVED", "MOVED ", "MOVED 1", "MOVED x 127.0.0.1:1", "MOVED 16384 127.0.0.1:1",
        "MOVED 1 127.0.0.1", "MOVED 1 127.0.0.1:0", "MOVED 1 127.0.0.1:99999", "MOVEDON 1 h:1",
        "WRONGTYPE", ""}) {
    EXPECT_EQ(read_redirect(text, here).kind, Kind::none) << text;
  }
}

}  // namespace
}  // namespace latchkey::detail::redis
