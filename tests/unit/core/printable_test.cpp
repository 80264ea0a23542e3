// Text of other clients on its way to a terminal or a log.
#include "core/text/printable.hpp"

#include <gtest/gtest.h>

#include <string>

namespace latchkey::detail {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  for (const std::string text :
       {"", "order:42", "a\\x1b'\"", "Größe:π", "注文:7", "\xf0\x9f\x94\x92"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, SpellsWhatATerminalObeys) {
  EXPECT_EQ(printable("a\x1b]0;owned\a\x1b[2J"), R"(a\x1b]0;owned\x07\x1b[2J)");
  EXPECT_EQ(printable("a\nb\r\tc\x7f"), R"(a\nb\r\tc\x7f)");
  EXPECT_EQ(printable(std::string("a\0b", 3)), R"(a\x00b)");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "2J"),
            R"(a\u009b2J)");  // CSI, as one character
}

TEST(Printable, SpellsWhatHidesOrReordersText) {
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            R"(a\u202eb)");
  EXPECT_EQ(printable("a\xe2\x80\xa8"
                      "b"),
            R"(a\u2028b)");
  EXPECT_EQ(printable("a\xe2\x80\x8b"
                      "b"),
            R"(a\u200bb)");
  EXPECT_EQ(printable("a\xef\xbb\xbf"
                      "b"),
            R"(a\ufeffb)");
}

TEST(Printable, SpellsBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("a\xff"), R"(a\xff)");
  EXPECT_EQ(printable("a\x9b"
                      "2J"),
            R"(a\x9b2J)");                                  // CSI, as one byte
  EXPECT_EQ(printable("\xc3"), R"(\xc3)");                  // cut off
  EXPECT_EQ(printable("\xc0\x9b"), R"(\xc0\x9b)");          // longer than necessary
  EXPECT_EQ(printable("\xed\xa0\x80"), R"(\xed\xa0\x80)");  // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), R"(\xf4\x90\x80\x80)");
}

}  // namespace
}  // namespace latchkey::detail
