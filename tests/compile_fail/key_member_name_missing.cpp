// expect: member_name_expected_behind_the_dot
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{account.}">::many); }
