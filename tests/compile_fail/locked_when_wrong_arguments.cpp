// expect: `.when` takes a bool, or a function that is called with the arguments
// A condition over something else.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
};

void call(int number) {
  LOCKED("key").when([](const Account&) { return true; }) AROUND(number){};
}
