// Imports the module as C++26: annotations, and the proxy that takes their locks.
#include <chrono>
#include <cstdio>
#include <meta>
#include <string>

import latchkey;

using namespace std::chrono_literals;
using latchkey::LockType;

namespace {

struct Account {
  long id = 42;
};

class Bank {
 public:
  [[= latchkey::locked("account:{account.id}", LockType::WRITE, 3s)]] std::string deposit(
      [[maybe_unused]] const Account& account) {
    return std::string(latchkey::current_hold()->key());
  }
};

}  // namespace

int main() {
  latchkey::install(latchkey::Locks::connect("memory:"));
  latchkey::Annotated<Bank> bank;
  const bool works = bank->deposit(Account{}) == "account:42";
  std::puts(works ? "the module works with annotations" : "wrong: the key");
  return works ? 0 : 1;
}
