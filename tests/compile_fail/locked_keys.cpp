// expect: KEYS\(...\) locks several keys at once, which LOCKED does not do yet
// Several keys.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call(const Account& from, const Account& to) {
  return LOCKED(KEYS("account:{from.id}", "account:{to.id}"), LockType::WRITE) AROUND(from, to) {
    return 1;
  };
}
