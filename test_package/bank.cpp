// A program that uses the Conan package: a decorated call on a lock in memory.
#include <latchkey/latchkey.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;

static long deposit(int account, long amount) {
  return LOCKED("account:{account}", latchkey::LockType::WRITE, 3s, 30s) AROUND(account, amount) {
    return latchkey::current_hold() != nullptr ? amount : 0;
  };
}

int main() {
  latchkey::install(latchkey::Locks::connect("memory:"));
  const long deposited = deposit(42, 7);
  std::cout << "latchkey " << latchkey::version() << ": " << deposited << '\n';
  return deposited == 7 ? 0 : 1;
}
