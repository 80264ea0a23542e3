// A consumer's own test program, which finds GoogleMock through latchkey::testing.
#include <gmock/gmock.h>
#include <cstdio>
#include <latchkey/lock_type.hpp>

int main() {
  const testing::Matcher<int> seven = testing::Eq(7);
  const bool works = seven.Matches(7) && !is_shared(latchkey::LockType::WRITE);
  std::printf("%-40s %s\n", "latchkey::testing", works ? "works" : "BROKEN");
  return works ? 0 : 1;
}
