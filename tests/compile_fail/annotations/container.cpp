// expect: 'ids' is a std::vector<int>: a container makes no key; index it|'ids' is a .*vector<int.*: a container makes no key; index it
// A container without an index.
#include <vector>

#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{ids}")]] long deposit(const std::vector<int>& ids) {
    LOCK_ANNOTATED;
    return ids[0];
  }
};
