// expect: size_counts_elements_or_bytes_of_text<.*"account.id".*int
#include <latchkey/key.hpp>

struct Account {
  int id;
  std::string name;
  double rate;
};

void use() { latchkey::Key<"{size(account.id)}">::check<"account", Account>(); }
