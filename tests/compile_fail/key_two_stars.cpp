// expect: more_than_one_star
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{a[*]}:{b[*]}">::many); }
