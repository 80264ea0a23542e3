// expect: no_argument_at<.*"2".*1
#include <latchkey/key.hpp>

struct Account {
  int id;
  std::string name;
  double rate;
};

void use() { latchkey::Key<"{2}">::check<"account", Account>(); }
