// The second translation unit of inline_methods_test.cpp.
#include "unit/decorate/inline_methods.hpp"

namespace latchkey::inline_methods {

int deposit_elsewhere(Bank& bank, const Account& account) {
  bank.deposit(account, 10);
  return bank.balance(account);
}

int twice_elsewhere(int value) { return Bank().echo(twice(value)); }

}  // namespace latchkey::inline_methods
