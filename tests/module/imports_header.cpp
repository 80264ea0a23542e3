// Imports the module in a file that includes the whole header too: both name the same things.
#include <latchkey/latchkey.hpp>

#include <chrono>
#include <cstdio>
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
  std::string deposit(const Account& account) {
    return LOCKED("account:{account.id}", LockType::WRITE, 3s) AROUND(account) {
      return std::string(latchkey::current_hold()->key());
    };
  }
};

}  // namespace

int main() {
  latchkey::install(latchkey::Locks::connect("memory:"));
  const bool works = Bank().deposit({}) == "account:42";
  std::puts(works ? "the module works beside the header" : "wrong: the key");
  return works ? 0 : 1;
}
