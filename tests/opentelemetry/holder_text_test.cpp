// Taking apart the text that names a lock's holder.
#include <gtest/gtest.h>

#include "adapters/holder_text.hpp"

namespace latchkey::detail {
namespace {

TEST(HolderText, OfThisProcess) {
  const HolderText found =
      parse_holder("Bank::deposit (bank.cpp:12), owner 3 of this process (thread 4711), for 12 ms");
  EXPECT_EQ(found.method, "Bank::deposit");
  EXPECT_TRUE(found.is_of_this_process);
  EXPECT_EQ(found.host, "");
  const HolderText nameless = parse_holder("owner 3 of this process, for 12 ms");
  EXPECT_EQ(nameless.method, "");
  EXPECT_TRUE(nameless.is_of_this_process);
}

TEST(HolderText, Announced) {
  const HolderText found = parse_holder(
      "Foo::operator() (a.cpp:1) on web-3, process 7 (bank), since 2026-11-27T12:15:00Z, owner "
      "6ba7b810-9dad-11d1-80b4-00c04fd430c8:2");
  EXPECT_EQ(found.method, "Foo::operator()");
  EXPECT_EQ(found.host, "web-3");
  EXPECT_EQ(found.process, 7);
  EXPECT_FALSE(found.is_of_this_process);
  const HolderText program = parse_holder("a program on web-3, process 12 (x)");
  EXPECT_EQ(program.method, "");
  EXPECT_EQ(program.host, "web-3");
  EXPECT_EQ(program.process, 12);
}

TEST(HolderText, OtherTextsSayNothing) {
  for (const char* text : {"", "6ba7b810-9dad-11d1-80b4-00c04fd430c8:2",
                           "nobody: it is kept, or being given back", ", process x"}) {
    const HolderText found = parse_holder(text);
    EXPECT_EQ(found.method, "") << text;
    EXPECT_EQ(found.host, "") << text;
    EXPECT_FALSE(found.process) << text;
  }
}

}  // namespace
}  // namespace latchkey::detail
