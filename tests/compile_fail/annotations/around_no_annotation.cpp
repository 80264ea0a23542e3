// expect: latchkey: AROUND_ANNOTATED: deposit has no annotation: write
// The other word without an annotation.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

long deposit(const Account& account) {
  AROUND_ANNOTATED { return account.id; };
}
