// expect: number_is_too_large.*"99999999999999999999"
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{id % 99999999999999999999}">::many); }
