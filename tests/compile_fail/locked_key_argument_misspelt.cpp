// expect: error: no type named .*fits_the_arguments.* in .*key_error::no_argument_named<.*"acount".*, .*"account".*>
#include <latchkey/latchkey.hpp>

#include <string>

struct Account {
  std::string id;
};

int deposit(const Account& account) {
  using namespace std::chrono_literals;
  using latchkey::LockType;
  return LOCKED("account:{acount.id}", LockType::WRITE, 3s, 30s) AROUND(account) { return 1; };
}
