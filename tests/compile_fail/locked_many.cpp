// expect: \[\*\] locks one key for each element at once, which LOCKED does not do yet
// A key for each element.
#include <latchkey/latchkey.hpp>

#include <chrono>
#include <vector>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

int call(const std::vector<int>& ids) {
  return LOCKED("account:{ids[*]}", LockType::WRITE) AROUND(ids) { return 1; };
}
