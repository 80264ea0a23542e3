// Replies are bounded, whatever a server sends.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "redis/protocol/reply_reader.hpp"

namespace latchkey::tests {
namespace {

using detail::redis::ReplyReader;

TEST(ReplyReader, AnArrayOfMoreElementsThanTheLimitIsRefused) {
  ReplyReader reader;
  constexpr std::string_view head = "*2147483647\r\n";
  static_cast<void>(reader.feed(head));
  EXPECT_EQ(reader.next(), nullptr);
  EXPECT_NE(reader.error(), "");
}

TEST(ReplyReader, ATextOfMoreBytesThanTheLimitIsRefused) {
  ReplyReader reader;
  const std::string part(std::size_t{1} << 20, 'x');
  std::size_t fed = 0;
  bool accepted = reader.feed(std::string_view("$536870912\r\n"));
  while (accepted && fed <= 2 * ReplyReader::most_bytes) {
    fed += part.size();
    accepted = reader.feed(part);
    EXPECT_EQ(reader.next(), nullptr);
  }
  EXPECT_FALSE(accepted);
  EXPECT_LE(fed, ReplyReader::most_bytes + part.size());
  EXPECT_EQ(reader.error(), "a reply beyond all measure");
}

}  // namespace
}  // namespace latchkey::tests
