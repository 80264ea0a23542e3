// expect: these_names_are_not_one_for_each_argument<.*"account".*"account, map<int, int>
#include <latchkey/key.hpp>

struct Account {
  int id;
  std::string name;
  double rate;
};

void use() { latchkey::Key<"{account.id}">::check<"account, map<int, int>{}", Account, int>(); }
