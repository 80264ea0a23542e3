// expect: KEYS takes literals, each a key that is checked when it is compiled
// A key of several that is no literal.
#include <latchkey/latchkey.hpp>

#include <string>

using latchkey::LockType;

constexpr const char* other = "b";

int call(const std::string& from) {
  return LOCKED(KEYS("account:{from}", other), LockType::WRITE) AROUND(from) { return 1; };
}
