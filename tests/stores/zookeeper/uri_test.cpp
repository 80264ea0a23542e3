// Keys as paths, and the names of nodes.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>

#include "stores/zookeeper/node_name.hpp"
#include "stores/zookeeper/uri.hpp"

namespace latchkey::tests {
namespace {

using namespace detail::zookeeper;
using namespace std::chrono_literals;

TEST(ZooKeeperKeys, APathIsTheKeyAsCuratorWritesIt) {
  EXPECT_EQ(path_of_key("order"), "order");
  EXPECT_EQ(path_of_key("orders/42"), "orders/42");
  EXPECT_EQ(path_of_key("größe {1} *"), "größe {1} *");
}

TEST(ZooKeeperKeys, WhatNoPathContainsIsEncoded) {
  EXPECT_EQ(path_of_key("/a//b/"), "%2Fa%2F/b%2F");
  EXPECT_EQ(path_of_key("./.."), "%2E/%2E.");
  EXPECT_EQ(path_of_key("100%"), "100%25");
  EXPECT_EQ(path_of_key(std::string("a\0b\n", 4)), "a%00b%0A");
  EXPECT_EQ(path_of_key("\xFF\xC3"), "%FF%C3");
  EXPECT_EQ(path_of_key("\xF0\x9F\x94\x92"), "%F0%9F%94%92");
  EXPECT_EQ(path_of_key("zookeeper/a"), "%7Aookeeper/a");
  EXPECT_EQ(path_of_key("a/_c_x"), "a/%5Fc_x");
}

// Its folder was a place in the queue of the key `a`, which was busy for ever.
TEST(ZooKeeperKeys, AKeyThatLooksLikeAPlaceInAQueueIsEncoded) {
  EXPECT_EQ(path_of_key("a/x-lock-0000000000"), "a/x-lock-000000000%30");
  EXPECT_EQ(path_of_key("lock-0000000017/b"), "lock-000000001%37/b");
  for (const std::string key :
       {"a/x-lock-0000000000", "a/__READ__0000000012", "a/__WRIT__-000000012", "lock-1234567890",
        "a/_c_4ab2e3a0-1234-4cde-8f01-23456789abcd-lock-0000000007/b"}) {
    const std::string path = path_of_key(key);
    EXPECT_EQ(key_of_path(path), key);
    std::size_t begin = 0;
    for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
      end = path.find('/', begin);
      const std::string name = path.substr(begin, end - begin);
      EXPECT_FALSE(parse_node(name)) << name;
      EXPECT_FALSE(is_subscriber(name)) << name;
    }
  }
}

TEST(ZooKeeperKeys, DifferentKeysHaveDifferentPathsThatLeadBack) {
  std::minstd_rand random(7);
  std::set<std::string> keys, paths;
  const std::string letters("/.%_cz2F\xC3\xA9\n", 11);
  for (int round = 0; round < 20'000; ++round) {
    std::string key;
    for (std::size_t size = 1 + random() % 6; key.size() < size;) {
      key += letters[random() % letters.size()];
    }
    const std::string path = path_of_key(key);
    EXPECT_EQ(key_of_path(path), key);
    EXPECT_EQ(('/' + path + '/').find("//"), std::string::npos) << path;
    keys.insert(key);
    paths.insert(path);
  }
  EXPECT_EQ(keys.size(), paths.size());
}

TEST(ZooKeeperNodes, TheNamesOfCuratorAreRead) {
  const auto plain = parse_node("_c_4ab2e3a0-1234-4cde-8f01-23456789abcd-lock-0000000007");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->order, 7U);
  EXPECT_EQ(plain->kind, Ticket::Kind::exclusive);
  EXPECT_TRUE(plain->foreign);
  EXPECT_EQ(parse_node("_c_4ab2e3a0-1234-4cde-8f01-23456789abcd-__READ__0000000012")->kind,
            Ticket::Kind::read);
  EXPECT_EQ(parse_node("__WRIT__0000000012")->kind, Ticket::Kind::write);
  EXPECT_FALSE(parse_node("42"));
  EXPECT_FALSE(parse_node("lock-12"));
  EXPECT_FALSE(parse_node("_w_4ab2e3a0-1234-4cde-8f01-23456789abcd"));
}

TEST(ZooKeeperNodes, AnOwnNodeIsFoundByItsHold) {
  const auto space = HoldId::new_space();
  const HoldId id{space, 77};
  const auto node = parse_node(node_prefix(id, LockType::WRITE) + "0000000003");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->owner, owner_of(id));
  EXPECT_NE(node->owner, owner_of(HoldId{space, 78}));
  EXPECT_FALSE(node->foreign);
  const auto reader = parse_node(reader_at(id, node->name));
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->order, 3U);
  EXPECT_EQ(reader->kind, Ticket::Kind::read);
}

TEST(ZooKeeperUri, PartsAndDefaults) {
  const auto uri = ZooKeeperUri::parse("zookeeper://joe:p%3Aw@a,b:2182/x/y?session=12s", 30s);
  EXPECT_EQ(detail::host_list(uri.servers), "a:2181,b:2182");
  EXPECT_EQ(uri.folder, "/x/y");
  EXPECT_EQ(uri.session, 12s);
  EXPECT_EQ(uri.requested_session, 12s);
  EXPECT_EQ(uri.password, "p:w");
  EXPECT_FALSE(uri.open);
  EXPECT_EQ(uri.describe(), "zookeeper://a:2181,b:2182/x/y");
  const auto plain = ZooKeeperUri::parse("zookeeper://[::1]/", 30s);
  EXPECT_EQ(detail::host_list(plain.servers), "[::1]:2181");
  EXPECT_EQ(plain.folder, "");
  EXPECT_EQ(plain.session, 30s);
  EXPECT_EQ(plain.requested_session, 36s) << "longer than the leases";
  EXPECT_TRUE(plain.open);
}

}  // namespace
}  // namespace latchkey::tests
