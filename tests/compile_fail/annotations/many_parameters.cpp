// expect: has more than 16 parameters: give them as one struct
// More parameters than the word reads.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account")]] long deposit(int, int, int, int, int, int, int, int, int, int,
                                                 int, int, int, int, int, int, int) {
    LOCK_ANNOTATED;
    return 1;
  }
};
