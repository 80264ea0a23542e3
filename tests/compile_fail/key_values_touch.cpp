// expect: nothing_separates_this_value_from_the_one_before.*"amount"
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{account.id}{amount}">::many); }
