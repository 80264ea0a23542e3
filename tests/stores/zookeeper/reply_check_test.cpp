// Messages that libzookeeper must not see.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stores/zookeeper/reply_check.hpp"

namespace latchkey::tests {
namespace {

using namespace detail::zookeeper;

std::string number(std::int64_t value, int size = 4) {
  std::string bytes;
  for (int at = size - 1; at >= 0; --at) bytes += static_cast<char>(value >> (8 * at));
  return bytes;
}
std::string text(const std::string& content) {
  return number(static_cast<std::int64_t>(content.size())) + content;
}
std::string header(std::int32_t xid, std::int32_t error = 0) {
  return number(xid) + number(7, 8) + number(error);
}
std::string stat() { return std::string(68, '\1'); }
std::string result(std::int32_t type, bool done = false) {
  return number(type) + (done ? '\1' : '\0') + number(done ? -1 : 0);
}

const std::vector<std::pair<ReplyShape, std::string>> replies{
    {ReplyShape::text, text("/a")},
    {ReplyShape::stat, stat()},
    {ReplyShape::created, text("/a/lock-0000000000") + stat()},
    {ReplyShape::data, text("note") + stat()},
    {ReplyShape::data, number(-1) + stat()},
    {ReplyShape::children, number(2) + text("a") + text("")},
    {ReplyShape::children, number(0)},
    {ReplyShape::checked, result(13) + result(-1, true)},
    {ReplyShape::checked, result(-1) + number(-101) + result(-1, true)},
    {ReplyShape::replaced, result(2) + result(1) + text("/b") + result(-1, true)},
    {ReplyShape::replaced, result(-1) + number(-101) + result(-1) + number(-2) + result(-1, true)},
};

TEST(ZooKeeperReplies, WhatAServerSendsIsReadable) {
  for (const auto& [shape, body] : replies) {
    const std::string message = header(5) + body;
    EXPECT_TRUE(is_readable(message, message.size(), &shape)) << static_cast<int>(shape);
  }
  const ReplyShape created = ReplyShape::created;
  EXPECT_TRUE(is_readable(header(5, -101), 16, &created)) << "an error has no body";
  for (const std::int32_t xid : {-2, -4, -8}) EXPECT_TRUE(is_readable(header(xid), 16, nullptr));
  const std::string event = header(-1) + number(2) + number(3) + text("/a");
  EXPECT_TRUE(is_readable(event, event.size(), nullptr));
}

// Each ended the process that held a lock.
TEST(ZooKeeperReplies, WhatIsTooShortIsNotReadable) {
  for (const auto& [shape, body] : replies) {
    const std::string message = header(5) + body;
    for (std::size_t size = 0; size < message.size(); ++size) {
      EXPECT_FALSE(is_readable(message.substr(0, size), size, &shape))
          << static_cast<int>(shape) << ", " << size;
    }
  }
  const std::string event = header(-1) + number(2) + number(3) + text("/a");
  for (std::size_t size = 0; size < event.size(); ++size) {
    EXPECT_FALSE(is_readable(event.substr(0, size), size, nullptr)) << size;
  }
}

TEST(ZooKeeperReplies, ALengthThatTheMessageDoesNotHaveIsNotReadable) {
  for (const auto& [shape, body] : std::vector<std::pair<ReplyShape, std::string>>{
           {ReplyShape::text, number(3) + "/a"},
           {ReplyShape::created, number(-2) + stat()},
           {ReplyShape::created, number(0x7FFFFFFF) + stat()},
           {ReplyShape::children, number(0x7FFFFFFF)},
           {ReplyShape::children, number(-2)},
           {ReplyShape::children, number(1) + number(5) + "a"},
           {ReplyShape::checked, result(13) + result(13) + result(-1, true)},
           {ReplyShape::replaced, result(2) + result(-1, true)},
           {ReplyShape::replaced, result(2) + result(1) + number(900) + result(-1, true)}}) {
    const std::string message = header(5) + body;
    EXPECT_FALSE(is_readable(message, message.size(), &shape)) << static_cast<int>(shape);
  }
}

TEST(ZooKeeperReplies, AReplyThatNobodyAwaitsIsNotReadable) {
  EXPECT_FALSE(is_readable(header(5), 16, nullptr));
}

TEST(ZooKeeperReplies, LongRepliesAreNodesAndData) {
  const std::string name(50'000, 'n');
  for (const auto& [shape, readable] :
       {std::pair{ReplyShape::children, true}, std::pair{ReplyShape::data, true},
        std::pair{ReplyShape::created, false}, std::pair{ReplyShape::replaced, false}}) {
    const std::string body =
        shape == ReplyShape::children ? number(2) + text(name) + text(name) : text(name) + stat();
    const std::string message = header(5) + body;
    const std::string begin = message.substr(0, longest_whole_message);
    EXPECT_EQ(is_readable(begin, message.size(), &shape), readable) << static_cast<int>(shape);
  }
}

TEST(ZooKeeperReplies, TheLengthOfAMessageIsBounded) {
  EXPECT_EQ(message_length(number(16)), 16U);
  EXPECT_EQ(message_length(number(64 << 20)), std::size_t{64} << 20);
  for (const std::int64_t length : {-1, 0, 15, (64 << 20) + 1, 0x7FFFFFFF}) {
    EXPECT_EQ(message_length(number(length)), 0U) << length;
  }
}

}  // namespace
}  // namespace latchkey::tests
