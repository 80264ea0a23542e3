// expect: 'second' is no argument; expected one of first
// A call without the argument that the key names.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{second}")]] long deposit(long first, long second = 2) {
    return first + second;
  }
};

auto called(latchkey::Annotated<Bank>& bank) { return bank->deposit(1); }
