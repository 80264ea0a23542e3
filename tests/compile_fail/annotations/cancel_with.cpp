// expect: latchkey: an annotation is a constant, and a std::stop_token is none
// A stop token is no constant.
#include <stop_token>

#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Bank {
  [[= latchkey::locked("account:{account.id}").cancel_with(std::stop_token())]] long deposit(
      const Account& account) {
    LOCK_ANNOTATED;
    return account.id;
  }
};
