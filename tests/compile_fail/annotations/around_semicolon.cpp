// expect: expected .;. before .}. token
// The semicolon after the closing brace is missing.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

[[= latchkey::locked("account:{account.id}")]] long deposit(const Account& account) {
  AROUND_ANNOTATED { return account.id; }
}
