// expect: the key of LOCKED is a literal, checked when it is compiled
// A key that is known only at run time.
#include <latchkey/latchkey.hpp>

#include <chrono>
#include <string>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call(const std::string& key) {
  return LOCKED(key, LockType::WRITE) AROUND(key) { return 1; };
}
