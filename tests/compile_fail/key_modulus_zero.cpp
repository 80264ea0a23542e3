// expect: modulus_is_zero
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{id % 0}">::many); }
