// expect: latchkey: Bank::~Bank is a destructor
// A destructor.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("bank")]] ~Bank() { LOCK_ANNOTATED; }
};
