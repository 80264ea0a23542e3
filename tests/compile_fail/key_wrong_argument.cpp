// expect: no_argument_named<.*"acount".*"account".*"amount"
#include <latchkey/key.hpp>

struct Account {
  int id;
  std::string name;
  double rate;
};

void use() { latchkey::Key<"account:{acount.id}">::check<"account, amount", Account, int>(); }
